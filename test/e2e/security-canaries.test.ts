import { describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/schema.ts';
import { createKafkaClient } from '../../src/kafka/client/kafka-client.ts';
import { openKafkaPublisher } from '../../src/kafka/client/kafka-publisher.ts';
import { ensureTopics } from '../../src/kafka/client/kafka-topics.ts';
import { followTopic, type TopicMessage } from '../../src/kafka/follow-topic.ts';
import { openClickHouse } from '../../src/sink/client/clickhouse.ts';
import { migrate } from '../../src/sink/migrate/migrate.ts';
import { run } from '../cli/captured-io.ts';
import {
  clickHousePassword,
  configOf,
  event,
  kafkaPassword,
  nobody,
  topic,
  useCanaries,
} from './kit/canaries.ts';
import { canary, leaksIn } from './kit/leaks-in.ts';
import { poll } from './kit/poll.ts';
import { startChild } from './kit/start-child.ts';

// Other servers are in security-canaries.slow.test.ts: each has all commands as processes.
const canaries = useCanaries();

describe('no command prints a secret', () => {
  it('with servers that quote the login they refuse', async () => {
    const settings = {
      KAFKA_BROKERS: canaries().echoes.kafka.address,
      CLICKHOUSE_URL: `http://${canaries().echoes.clickhouse.address}`,
    };
    expect(await canaries().leaksOf(canaries().login, settings)).toEqual([]);
    // Both servers received the secrets, and the output shows none.
    expect(canaries().echoes.kafka.heard()).toContain(kafkaPassword);
    expect(canaries().echoes.clickhouse.heard()).toContain(clickHousePassword);
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

describe('no stored or served data contains a secret', () => {
  it('tables, topics, groups, metrics, health and logs of a run', async () => {
    const { kafka, server, login, leaksOf } = canaries();
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
