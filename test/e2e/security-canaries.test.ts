import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load/load-config.ts';
import type { Config } from '../../src/config/schema.ts';
import { createKafkaClient } from '../../src/kafka/client/kafka-client.ts';
import { openKafkaPublisher } from '../../src/kafka/client/kafka-publisher.ts';
import { ensureTopics } from '../../src/kafka/client/kafka-topics.ts';
import { followTopic, type TopicMessage } from '../../src/kafka/follow-topic.ts';
import {
  type ClickHouseServer,
  startClickHouse,
} from '../../src/local/clickhouse/clickhouse-server.ts';
import { openClickHouse } from '../../src/sink/client/clickhouse.ts';
import { migrate } from '../../src/sink/migrate/migrate.ts';
import { run } from '../cli/captured-io.ts';
import { useStack } from '../containers/stack.ts';
import { startEchoingHttp } from './kit/echoing-http.ts';
import { type Echo, startEchoingKafka } from './kit/echoing-kafka.ts';
import { canary, leaksIn } from './kit/leaks-in.ts';
import { poll } from './kit/poll.ts';
import { type SecureKafka, startSecureKafka } from './kit/secure-kafka.ts';
import { startChild } from './kit/start-child.ts';

const stack = useStack();
const nobody = '127.0.0.1:1';
const kafkaPassword = `${canary}/kafka+password`;
const clickHousePassword = `${canary}"click&house\\password%ü`;
const topic = 'canaries';

let dir: string;
let kafka: SecureKafka;
let server: ClickHouseServer;
let login: string;
let byToken: string;
const echoes: Record<'kafka' | 'clickhouse' | 'busy' | 'webhook', Echo> = {} as never;

beforeAll(async () => {
  if (stack.brokers.length === 0) return;
  dir = mkdtempSync(join(tmpdir(), 'tailmark-canaries-'));
  const grants = ['GRANT ALL ON tailmark.*', 'GRANT TABLE ENGINE ON *'];
  const ann = { name: 'ann', password: clickHousePassword, grants };
  server = await startClickHouse({
    dataDir: join(dir, 'server'),
    database: 'tailmark',
    users: [ann],
    onProgress: () => undefined,
  });
  kafka = await startSecureKafka({ username: 'ann', password: kafkaPassword });
  echoes.kafka = await startEchoingKafka();
  echoes.clickhouse = await startEchoingHttp(403, 516);
  echoes.busy = await startEchoingHttp(500, 241);
  echoes.webhook = await startEchoingHttp(500);
  const sasl = '    mechanism: plain\n    username: ann\n    password_file: FILE';
  login = configuration(sasl.replace('FILE', file('kafka', kafkaPassword)));
  const tokenFile = file('token', `${canary}.kafka.token`);
  byToken = configuration(`    mechanism: oauthbearer\n    token_file: ${tokenFile}`);
});
afterAll(async () => {
  if (stack.brokers.length === 0) return;
  for (const echo of Object.values(echoes)) echo.close();
  await kafka.stop();
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
});

function file(name: string, content: string): string {
  const path = join(dir, name);
  writeFileSync(path, `${content}\n`);
  return path;
}

/** A configuration with a canary in every secret. */
function configuration(sasl: string): string {
  const address = `http://ann:${canary}-login@${echoes.webhook.address}/${canary}-path-token?t=${canary}-query`;
  return file(
    `${sasl.length}.yaml`,
    `kafka:
  topics: [${topic}]
  sasl:
${sasl}
clickhouse:
  username: ann
  password_file: ${file('clickhouse', clickHousePassword)}
alert:
  webhooks:
    - url_file: ${file('url', address)}
      secret_file: ${file('secret', `${canary}-webhook-secret`)}
http:
  listen: 127.0.0.1:0`,
  );
}

/** All output of a command in its own process. */
async function printed(argv: readonly string[], env: Readonly<Record<string, string>>) {
  const child = startChild([...argv, '--log-level', 'trace'], env);
  const isRun = argv[0] === 'run';
  if (isRun) {
    await poll(
      'it runs, waits for its login or has ended',
      () => (/running|not accept the login/.test(child.err()) || child.isOver() ? true : undefined),
      { deadlineMs: 90_000 },
    );
    child.signal('SIGTERM');
  }
  await child.exited;
  return `${child.out()}\n${child.err()}`;
}

const commands = (): readonly (readonly string[])[] => [
  ['check', '--show'],
  ['check', '--connect', '--show', '--json'],
  ['doctor'],
  ['migrate'],
  ['tails'],
  ['anomalies', '--json'],
  ['explain'],
  ['verify'],
  ['generate', '--duration', '1s', '--speed', 'max'],
  ['replay', file('events.ndjson', event(0)), '--speed', 'max'],
  ['run'],
];

/** The output of each command; two at a time, for two cores. */
async function leaksOf(config: string, settings: Readonly<Record<string, string>>) {
  const env = Object.fromEntries(Object.entries(settings).map(([k, v]) => [`TAILMARK_${k}`, v]));
  const waiting = [...commands()];
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

function event(n: number): string {
  return JSON.stringify({ ts: Date.now() - 60_000 + n, model: 'ranker', total_ms: 10 + n });
}

describe('no command prints a secret', () => {
  it('with servers that refuse the connection', async () => {
    const settings = { KAFKA_BROKERS: nobody, CLICKHOUSE_URL: `http://${nobody}` };
    expect(await leaksOf(login, settings)).toEqual([]);
  });

  it('with servers that quote the login they refuse', async () => {
    const settings = {
      KAFKA_BROKERS: echoes.kafka.address,
      CLICKHOUSE_URL: `http://${echoes.clickhouse.address}`,
    };
    expect(await leaksOf(login, settings)).toEqual([]);
    // Both servers received the secrets, and the output shows none.
    expect(echoes.kafka.heard()).toContain(kafkaPassword);
    expect(echoes.clickhouse.heard()).toContain(clickHousePassword);
  });

  it('with a broker that quotes the token, and a busy server that quotes its requests', async () => {
    const settings = {
      KAFKA_BROKERS: echoes.kafka.address,
      CLICKHOUSE_URL: `http://${echoes.busy.address}`,
    };
    expect(await leaksOf(byToken, settings)).toEqual([]);
    expect(echoes.kafka.heard()).toContain(`${canary}.kafka.token`);
    expect(echoes.busy.heard()).toContain(clickHousePassword);
  });

  it('with a store that works and a broker that quotes the login', async () => {
    await migrate(configOf(login, { TAILMARK_CLICKHOUSE_URL: server.url }).clickhouse);
    const settings = { KAFKA_BROKERS: echoes.kafka.address, CLICKHOUSE_URL: server.url };
    expect(await leaksOf(login, settings)).toEqual([]);
  });

  it.each([
    ['tails', '--clickhouse-url', `http://ann:${canary}-password@${nobody}`],
    ['tails', '--clickhouse-url', `http://ann:${canary}/password@${nobody}`],
    ['tails', '--clickhouse-url', `http://${nobody}/?user=ann&password=${canary}`],
    ['check', '--show', '--clickhouse-url', `http://${nobody}/?x=${canary}-password`],
    ['check', '--brokers', `ann:${canary}@kafka:9092`],
    ['check', '--brokers', `${canary}@kafka`],
    ['check', '--brokers', `SASL_SSL://ann:${canary}@kafka:9092`],
    ['run', `--password=${canary}`],
    ['run', '--password', canary],
  ])('%s %s %s', async (...argv) => {
    for (const format of [[], ['--json'], ['--log-level', 'trace']]) {
      const { out, err } = await run([...argv, ...format]);
      expect(err + out).not.toBe('');
      expect(leaksIn(out + err)).toEqual([]);
    }
  });
});

function configOf(path: string, env: Readonly<Record<string, string>>): Config {
  return loadConfig({ path, env, readFile: (name) => readFileSync(name, 'utf8') }).config;
}

describe('no stored or served data contains a secret', () => {
  it('tables, topics, groups, metrics, health and logs of a run', async () => {
    const env = {
      TAILMARK_KAFKA_BROKERS: kafka.saslTls,
      TAILMARK_KAFKA_TLS_CA_FILE: kafka.files.ca,
      TAILMARK_CLICKHOUSE_URL: server.url,
      TAILMARK_INGEST_FLUSH_INTERVAL: '200ms',
    };
    const config = configOf(login, env);
    await migrate(config.clickhouse);
    await ensureTopics(config.kafka, [{ topic }]);
    const publisher = await openKafkaPublisher(config.kafka);
    const values = [...Array.from({ length: 20 }, (_, n) => event(n)), 'no event', '{"ts":1}'];
    await publisher.publish(
      topic,
      values.map((value) => ({ value })),
    );
    await publisher.close();

    const child = startChild(['run', '--config', login, '--log-level', 'trace'], env);
    try {
      await child.logged('running; health');
      const url = /at (http:\/\/127\.0\.0\.1:\d+)/.exec(child.err())?.[1] ?? '';
      const letters: TopicMessage[] = [];
      const followed = await followTopic(config.kafka, `${topic}.dlq`, (m) => letters.push(m));
      await poll('two dead letters', () => (letters.length >= 2 ? true : undefined));
      const page = async (path: string) => (await fetch(`${url}/${path}`)).text();
      const counted = /^tailmark_events_consumed_total\{topic=".*"\} 22$/m;
      const metrics = await poll('every event is counted', async () => {
        const text = await page('metrics');
        return counted.test(text) ? text : undefined;
      });
      const served = [metrics, await page('healthz'), await page('readyz')];
      const admin = createKafkaClient(config.kafka).admin();
      await admin.connect();
      const { groups } = await admin.describeGroups([config.kafka.group_id]);
      await admin.disconnect();
      await followed.stop();
      expect(groups[0]?.members).toHaveLength(1);
      const kept = {
        served,
        letters: letters.map(({ headers, key, value }) => [headers, key, String(value)]),
        groups: groups.map((group) =>
          group.members.map(({ clientId, memberId, clientHost }) => [
            clientId,
            memberId,
            clientHost,
          ]),
        ),
        tables: await everyRow(config),
      };
      expect(kept.tables).toContain('ranker');
      expect(leaksIn(JSON.stringify(kept))).toEqual([]);
    } finally {
      child.signal('SIGTERM');
      await child.exited;
    }
    expect(leaksIn(child.out() + child.err())).toEqual([]);
    expect(await leaksOf(login, settingsOf(env))).toEqual([]);
  });
});

function settingsOf(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).map(([k, v]) => [k.replace('TAILMARK_', ''), v]));
}

/** All rows of the database, as JSON. */
async function everyRow({ clickhouse }: Config): Promise<string> {
  const client = openClickHouse(clickhouse);
  try {
    const listed = await client.query({ query: 'SHOW TABLES', format: 'JSONEachRow' });
    let rows = '';
    for (const { name } of await listed.json<{ name: string }>()) {
      const result = await client.query({
        query: 'SELECT * FROM {name:Identifier}',
        query_params: { name },
        format: 'JSONStringsEachRow',
      });
      rows += await result.text();
    }
    return rows;
  } finally {
    await client.close();
  }
}
