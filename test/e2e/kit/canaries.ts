import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { loadConfig } from '../../../src/config/load/load-config.ts';
import type { Config } from '../../../src/config/schema.ts';
import {
  type ClickHouseServer,
  startClickHouse,
} from '../../../src/local/clickhouse/clickhouse-server.ts';
import { useStack } from '../../containers/stack.ts';
import { startEchoingHttp } from './echoing-http.ts';
import { type Echo, startEchoingKafka } from './echoing-kafka.ts';
import { canary, leaksIn } from './leaks-in.ts';
import { poll } from './poll.ts';
import { type SecureKafka, startSecureKafka } from './secure-kafka.ts';
import { startChild } from './start-child.ts';

export const nobody = '127.0.0.1:1';
export const kafkaPassword = `${canary}/kafka+password`;
export const clickHousePassword = `${canary}"click&house\\password%ü`;
export const topic = 'canaries';

/** Servers that quote what they are sent, and configurations with a canary in every secret. */
export interface Canaries {
  readonly kafka: SecureKafka;
  readonly server: ClickHouseServer;
  /** A configuration that logs in by password; by token. */
  readonly login: string;
  readonly byToken: string;
  readonly echoes: Readonly<Record<'kafka' | 'clickhouse' | 'busy' | 'webhook', Echo>>;
  /** Leaks in the output of each command. */
  leaksOf(config: string, settings: Readonly<Record<string, string>>): Promise<unknown[]>;
}

/** They are there inside the tests of a file. Call it at the top of the file. */
export function useCanaries(): () => Canaries {
  const stack = useStack();
  const undo: (() => unknown)[] = [];
  let canaries: Canaries | undefined;
  beforeAll(async () => {
    if (stack.brokers.length === 0) return;
    canaries = await start(undo);
  });
  afterAll(async () => {
    for (const step of undo.reverse()) await step();
  });
  return () => {
    if (canaries === undefined) throw new Error('no servers');
    return canaries;
  };
}

async function start(undo: (() => unknown)[]): Promise<Canaries> {
  const dir = mkdtempSync(join(tmpdir(), 'tailmark-canaries-'));
  undo.push(() => rmSync(dir, { recursive: true, force: true }));
  const file = (name: string, content: string) => {
    const path = join(dir, name);
    writeFileSync(path, `${content}\n`);
    return path;
  };
  const grants = ['GRANT ALL ON tailmark.*', 'GRANT TABLE ENGINE ON *'];
  const ann = { name: 'ann', password: clickHousePassword, grants };
  const server = await startClickHouse({
    dataDir: join(dir, 'server'),
    database: 'tailmark',
    users: [ann],
    onProgress: () => undefined,
  });
  undo.push(() => server.stop());
  const kafka = await startSecureKafka({ username: 'ann', password: kafkaPassword });
  undo.push(() => kafka.stop());
  const echoes = {
    kafka: await startEchoingKafka(),
    clickhouse: await startEchoingHttp(403, 516),
    busy: await startEchoingHttp(500, 241),
    webhook: await startEchoingHttp(500),
  };
  for (const echo of Object.values(echoes)) undo.push(() => echo.close());
  const secrets = {
    clickHouse: file('clickhouse', clickHousePassword),
    webhook: file(
      'url',
      `http://ann:${canary}-login@${echoes.webhook.address}/${canary}-path-token?t=${canary}-query`,
    ),
    signature: file('secret', `${canary}-webhook-secret`),
  };
  const byPassword = `{mechanism: plain, username: ann, password_file: ${file('kafka', kafkaPassword)}}`;
  const byToken = `{mechanism: oauthbearer, token_file: ${file('token', `${canary}.kafka.token`)}}`;
  const events = file('events.ndjson', event(0));
  return {
    ...{ kafka, server, echoes },
    login: file('login.yaml', configuration(byPassword, secrets)),
    byToken: file('token.yaml', configuration(byToken, secrets)),
    leaksOf: (config, settings) => leaksOf(commands(events), config, settings),
  };
}

/** A configuration with a canary in every secret. */
function configuration(
  sasl: string,
  files: Readonly<Record<'clickHouse' | 'webhook' | 'signature', string>>,
): string {
  return `kafka:
  topics: [${topic}]
  sasl: ${sasl}
clickhouse:
  username: ann
  password_file: ${files.clickHouse}
alert:
  webhooks:
    - url_file: ${files.webhook}
      secret_file: ${files.signature}
http:
  listen: 127.0.0.1:0`;
}

/** All output of a command in its own process. */
async function printed(argv: readonly string[], env: Readonly<Record<string, string>>) {
  const child = startChild([...argv, '--log-level', 'trace'], env);
  const isRun = argv[0] === 'run';
  if (isRun) {
    await poll('it runs, waits for its login or has ended', () =>
      /running|not accept the login/.test(child.err()) || child.isOver() ? true : undefined,
    );
    child.signal('SIGTERM');
  }
  await child.exited;
  return `${child.out()}\n${child.err()}`;
}

const commands = (events: string): readonly (readonly string[])[] => [
  ['check', '--show'],
  ['check', '--connect', '--show', '--json'],
  ['doctor'],
  ['migrate'],
  ['tails'],
  ['anomalies', '--json'],
  ['explain'],
  ['verify'],
  ['generate', '--duration', '1s', '--speed', 'max'],
  ['replay', events, '--speed', 'max'],
  ['run'],
];

/** The output of each command; two at a time, for two cores. */
async function leaksOf(
  commands: readonly (readonly string[])[],
  config: string,
  settings: Readonly<Record<string, string>>,
): Promise<unknown[]> {
  const env = Object.fromEntries(Object.entries(settings).map(([k, v]) => [`TAILMARK_${k}`, v]));
  const waiting = [...commands];
  const leaks: unknown[] = [];
  const work = async () => {
    for (let argv = waiting.shift(); argv !== undefined; argv = waiting.shift()) {
      const text = await printed([...argv, '--config', config], env);
      expect([argv, text.trim()]).not.toEqual([argv, '']);
      leaks.push(...leaksIn(text).map((leak) => [argv.join(' '), leak]));
    }
  };
  await Promise.all([work(), work()]);
  return leaks;
}

export function event(n: number): string {
  return JSON.stringify({ ts: Date.now() - 60_000 + n, model: 'ranker', total_ms: 10 + n });
}

export function configOf(path: string, env: Readonly<Record<string, string>>): Config {
  return loadConfig({ path, env, readFile: (name) => readFileSync(name, 'utf8') }).config;
}
