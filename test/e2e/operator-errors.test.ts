import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run as runInProcess } from '../cli/captured-io.ts';
import { useStack } from '../containers/stack.ts';
import { uniqueName } from '../containers/unique-name.ts';
import { presentTopics } from './kit/present-topics.ts';
import { Rig } from './kit/rig.ts';
import { startChild } from './kit/start-child.ts';

const stack = useStack();
/** Some 11 s on a quiet machine: what waits for ever, or tries again and again, is beyond it on a busy one too. */
const longestMs = 60_000;
const nobody = '127.0.0.1:1';

let rig: Rig;
let dir: string;
/** Accepts connections and sends nothing. */
let silent: Server;
const sockets = new Set<{ destroy(): void }>();

beforeAll(async () => {
  if (stack.brokers.length === 0) return;
  rig = await Rig.open({ stack, name: 'errors' });
  dir = mkdtempSync(join(tmpdir(), 'tailmark-errors-'));
  silent = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  if (stack.brokers.length === 0) return;
  for (const socket of sockets) socket.destroy();
  silent.close();
  await rig.close();
  rmSync(dir, { recursive: true, force: true });
});

const portOf = (server: Server) => (server.address() as AddressInfo).port;

/** Writes a configuration file; returns its path. */
function file(yaml: string): string {
  const path = join(dir, `${uniqueName('config')}.yaml`);
  writeFileSync(path, yaml);
  return path;
}

interface Case {
  readonly name: string;
  readonly argv: () => readonly string[];
  readonly env?: () => Readonly<Record<string, string>>;
  readonly exitCode: number;
  readonly code: string;
  /** Parts of the message: the failed action, the setting, its value. */
  readonly says: readonly (string | (() => string))[];
  /** Part of the hint: the remedy. */
  readonly hint: string;
}

const missingTopic = uniqueName('missing');
const missingDatabase = uniqueName('missing');

const cases: readonly Case[] = [
  {
    name: 'a broker at a closed port',
    argv: () => ['run'],
    env: () => ({ TAILMARK_KAFKA_BROKERS: nobody }),
    exitCode: 69,
    code: 'TAILMARK_KAFKA_UNREACHABLE',
    says: ['kafka.brokers', nobody],
    hint: 'TAILMARK_KAFKA_BROKERS',
  },
  {
    name: 'a broker that never answers',
    argv: () => ['run', '--brokers', `127.0.0.1:${portOf(silent)}`],
    exitCode: 69,
    code: 'TAILMARK_KAFKA_UNREACHABLE',
    says: ['kafka.brokers', () => String(portOf(silent))],
    hint: 'TAILMARK_KAFKA_BROKERS',
  },
  {
    name: 'a topic that is not there',
    argv: () => ['run', '--topic', missingTopic],
    exitCode: 69,
    code: 'TAILMARK_KAFKA_TOPIC_MISSING',
    says: ['kafka.topics', missingTopic],
    hint: 'TAILMARK_KAFKA_TOPICS',
  },
  {
    name: 'a topic to write to that is not there',
    argv: () => ['generate', '--topic', missingTopic, '--duration', '1s', '--speed', 'max'],
    exitCode: 69,
    code: 'TAILMARK_KAFKA_TOPIC_MISSING',
    says: [missingTopic],
    hint: 'kafka.topics',
  },
  ...['run', 'tails', 'anomalies', 'explain', 'verify', 'migrate'].map(
    (command): Case => ({
      name: `${command} without ClickHouse`,
      argv: () => [command, '--clickhouse-url', `http://${nobody}`],
      exitCode: 69,
      code: 'TAILMARK_CLICKHOUSE_UNREACHABLE',
      says: ['clickhouse.url', nobody],
      hint: 'TAILMARK_CLICKHOUSE_URL',
    }),
  ),
  ...['run', 'tails', 'migrate'].map(
    (command): Case => ({
      name: `${command} with a wrong password`,
      argv: () => [command],
      env: () => ({ TAILMARK_CLICKHOUSE_PASSWORD: 'wrong' }),
      exitCode: 78,
      code: 'TAILMARK_CLICKHOUSE_AUTH',
      says: ['clickhouse.username', 'default'],
      hint: 'TAILMARK_CLICKHOUSE_PASSWORD',
    }),
  ),
  ...['run', 'tails', 'anomalies', 'explain', 'verify'].map(
    (command): Case => ({
      name: `${command} without the schema`,
      argv: () => [command, '--database', missingDatabase],
      exitCode: 78,
      code: 'TAILMARK_SCHEMA_MISSING',
      says: [missingDatabase],
      hint: 'tailmark migrate',
    }),
  ),
  {
    name: 'an unknown key',
    argv: () => ['run', '--config', file('kafka:\n  brokerz: [a:9092]\n')],
    exitCode: 78,
    code: 'TAILMARK_CONFIG_INVALID',
    says: ['kafka.brokerz', '.yaml:2'],
    hint: 'Did you mean brokers?',
  },
  {
    name: 'a wrong type',
    argv: () => ['run', '--config', file('ingest:\n  flush_max_rows: many\n')],
    exitCode: 78,
    code: 'TAILMARK_CONFIG_INVALID',
    says: ['ingest.flush_max_rows', 'many', '.yaml:2'],
    hint: 'must be a whole number from 100 to 250000',
  },
  {
    name: 'a port that is taken',
    argv: () => ['run', '--listen', `127.0.0.1:${portOf(silent)}`],
    exitCode: 69,
    code: 'TAILMARK_PORT_TAKEN',
    says: ['http.listen', () => `127.0.0.1:${portOf(silent)}`],
    hint: 'TAILMARK_HTTP_LISTEN',
  },
  {
    name: 'up where no directory can be',
    argv: () => ['up', '--dir', join(file(''), 'below')],
    exitCode: 69,
    code: 'TAILMARK_PATH_UNWRITABLE',
    says: ['below'],
    hint: '--dir',
  },
  {
    name: 'up without Java and Docker',
    argv: () => ['up', '--dir', join(dir, 'up')],
    env: () => ({ PATH: '', JAVA_HOME: '' }),
    exitCode: 69,
    code: 'TAILMARK_LOCAL_JAVA_MISSING',
    says: ['Java 17'],
    hint: 'docker compose up',
  },
];

describe('an operator gets the failed action, the setting and the remedy', () => {
  it.concurrent.each(cases)('$name', async ({ argv, env, exitCode, code, says, hint }) => {
    const startedMs = performance.now();
    const child = startChild(argv(), { ...rig.env, ...env?.() });
    const ended = await child.exited;
    const tookMs = performance.now() - startedMs;
    const err = messageOf(child.err());
    expect([ended, child.out(), err]).toEqual([exitCode, '', err]);
    expect(err.match(/^error: /gm)).toHaveLength(1);
    expect(err).toContain(`code: ${code}\n`);
    for (const part of says) expect(err).toContain(typeof part === 'string' ? part : part());
    expect(err.slice(err.indexOf('error: '))).toContain(hint);
    expect(err).toMatch(/^hint: .{20,}$/m);
    expect(err).not.toMatch(/^\s+at /m);
    expect(tookMs).toBeLessThan(longestMs);
  });

  it('as JSON, when --json is given', async () => {
    const argv = ['tails', '--json', '--clickhouse-url', `http://${nobody}`];
    const { exitCode, out, err } = await runInProcess(argv, { env: rig.env });
    expect([exitCode, out]).toEqual([69, '']);
    const { error } = JSON.parse(err) as { error: Record<string, string> };
    expect(error).toMatchObject({ code: 'TAILMARK_CLICKHOUSE_UNREACHABLE' });
    expect(error.message).toContain('clickhouse.url');
    expect(error.hint).toContain('TAILMARK_CLICKHOUSE_URL');
  });

  it('and a missing topic leaves no dead-letter topic behind', async () => {
    const names = [missingTopic, `${missingTopic}.dlq`];
    expect(await presentTopics(rig.config.kafka, names)).toEqual([]);
  });
});

/** The text for people: not the log, which is JSON lines. */
function messageOf(err: string): string {
  return err.replaceAll(/^\{.*\}\n/gm, '');
}
