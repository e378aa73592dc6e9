import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createMetrics } from '../../src/base/telemetry/metrics.ts';
import { createKafkaClient } from '../../src/kafka/client/kafka-client.ts';
import { ensureTopics } from '../../src/kafka/client/kafka-topics.ts';
import { startClickHouse } from '../../src/local/clickhouse/clickhouse-server.ts';
import { ClickHouseChunkStore } from '../../src/sink/chunks/chunk-store.ts';
import { openClickHouse } from '../../src/sink/client/clickhouse.ts';
import { findServer } from '../../src/sink/guard/one-server.ts';
import { migrate, readMigrations } from '../../src/sink/migrate/migrate.ts';
import { useStack } from '../containers/stack.ts';
import { startBalancer } from './kit/balancer.ts';
import { benchMessages } from './kit/bench-messages.ts';
import { poll } from './kit/poll.ts';
import { untilGone } from './kit/present-topics.ts';
import { Rig } from './kit/rig.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const last = readMigrations().at(-1)?.name ?? '';
const outcome = ({ exitCode, err }: { exitCode: number; err: string }) => ({ exitCode, err });
const refused = (exitCode: number, code: string, ...texts: string[]) => ({
  exitCode,
  err: expect.stringMatching(
    new RegExp([...texts.map((text) => text.replaceAll(/[()/]/g, '\\$&')), code].join('[^]*')),
  ),
});

/** A ClickHouse with a cluster of itself. */
async function startClustered() {
  const dir = mkdtempSync(join(tmpdir(), 'tailmark-clustered-'));
  mkdirSync(join(dir, 'config.d'));
  const replica = '<replica><host>127.0.0.1</host><port>1</port></replica>';
  writeFileSync(
    join(dir, 'config.d', 'clusters.xml'),
    `<clickhouse><remote_servers><pair><shard>${replica}</shard></pair></remote_servers></clickhouse>`,
  );
  const server = await startClickHouse({
    dataDir: dir,
    database: 'tailmark',
    onProgress: () => undefined,
  });
  const stop = async () => {
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  return { url: server.url, stop };
}

it('refuses a distributed table at the start, and `check` says so', () =>
  withRig({ stack, name: 'distributed' }, async (shared) => {
    const server = await startClustered();
    shared.atEnd(server.stop);
    const rig = await Rig.open({
      stack: { ...stack, clickhouseUrl: server.url },
      name: 'distributed_own',
    });
    shared.atEnd(() => rig.close());
    const { database } = rig.config.clickhouse;
    await rig.client.command({ query: 'RENAME TABLE exemplars TO exemplars_local' });
    await rig.client.command({
      query: `CREATE TABLE exemplars AS exemplars_local
              ENGINE = Distributed(pair, ${database}, exemplars_local)`,
    });
    const why = ['must be MergeTree tables of one server', 'exemplars (Distributed)'];
    const code = 'TAILMARK_CLICKHOUSE_UNSUPPORTED';
    expect(outcome(await rig.cli(['run', '--roles', 'ingest']))).toEqual(refused(78, code, ...why));
    const check = await rig.cli(['check', '--connect', '--json']);
    expect(check.exitCode).toBe(78);
    const { findings } = JSON.parse(check.out) as { findings: { ok: boolean }[] };
    expect(findings.filter(({ ok }) => !ok)).toEqual([
      expect.objectContaining({
        ...{ what: `database ${database}`, code },
        detail: expect.stringContaining('exemplars (Distributed)'),
      }),
    ]);
  }));

it('refuses a URL behind which servers change: at the start, and before the next write', () =>
  withRig({ stack, name: 'two_servers' }, async (rig) => {
    const other = await startClustered();
    rig.atEnd(other.stop);
    const { clickhouse } = rig.config;
    await migrate({ ...clickhouse, url: other.url });
    const balancer = await startBalancer(clickhouse.url, other.url);
    rig.atEnd(() => balancer.close());
    const otherClient = openClickHouse({ ...clickhouse, url: other.url });
    rig.atEnd(() => otherClient.close());
    const env = { ...rig.env, TAILMARK_CLICKHOUSE_URL: balancer.url };
    const code = 'TAILMARK_CLICKHOUSE_UNSUPPORTED';
    const why = 'must always lead to the same server and tables: it leads to 2 servers';
    expect(outcome(await rig.cli(['run', '--roles', 'ingest'], { env }))).toEqual(
      refused(78, code, why),
    );
    expect(await rig.cli(['check', '--connect'], { env })).toMatchObject({
      exitCode: 78,
      out: expect.stringContaining(why),
    });

    balancer.lead(clickhouse.url);
    const config = { ...rig.config, clickhouse: { ...clickhouse, url: balancer.url } };
    const { messages } = benchMessages('two_servers', 200, 1);
    await rig.publish(messages.slice(0, 100).map((value) => ({ value })));
    const pipeline = await rig.start(['ingest'], config);
    await rig.untilConsumed(100);
    // Writes of the next second need not ask again which server there is.
    const storedMs = performance.now();
    await poll('more than a second later', () => performance.now() > storedMs + 1_100 || undefined);
    balancer.lead(other.url);
    await rig.publish(messages.slice(100).map((value) => ({ value })));
    await expect(pipeline.done).rejects.toMatchObject({
      ...{ code, exitCode: 78 },
      message: expect.stringContaining('must always lead to the same server'),
    });
    await pipeline.stop();
    for (const table of ['chunk_landings', 'flushes', 'latency_10s', 'latency_1d', 'leases']) {
      const result = await otherClient.query({
        query: `SELECT count() AS n FROM ${table}`,
        format: 'JSONEachRow',
      });
      const [row] = await result.json<{ n: string }>();
      // The lease is given back where it was not taken.
      expect([table, Number(row?.n)]).toEqual([table, table === 'leases' ? 1 : 0]);
    }
    // The successor counts what was left, once.
    await rig.start(['ingest']);
    await rig.untilConsumed(200);
    expect(await rig.consumed()).toBe(200);
  }));

it('a read names the server that it is of, where its connection is older than the URL’s last change', () =>
  withRig({ stack, name: 'kept_connection' }, async (rig) => {
    const other = await startClustered();
    rig.atEnd(other.stop);
    const { clickhouse } = rig.config;
    const elsewhere = { ...clickhouse, url: other.url };
    await migrate(elsewhere);
    const balancer = await startBalancer(other.url);
    rig.atEnd(() => balancer.close());
    const client = openClickHouse({ ...clickhouse, url: balancer.url });
    rig.atEnd(() => client.close());
    const servers: string[] = [];
    const store = new ClickHouseChunkStore(client, 'test', (identity) => servers.push(identity));
    await store.ledgerEnds('g', 't', 0);
    balancer.leadNew(clickhouse.url);
    await store.ledgerEnds('g', 't', 0);
    const asked = await findServer({ ...clickhouse, url: balancer.url }, 2);
    const [here, there] = await Promise.all([findServer(clickhouse, 1), findServer(elsewhere, 1)]);
    // A question on a new connection says nothing of the read.
    expect(asked.identity).toBe(here.identity);
    expect(servers).toEqual([there.identity, there.identity]);
  }));

it('refuses a schema that is newer, with both numbers, in every role and in migrate', () =>
  withRig({ stack, name: 'newer' }, async (rig) => {
    const add = (name: string) =>
      rig.client.insert({
        table: 'schema_migrations',
        format: 'JSONEachRow',
        values: [{ name, checksum: '' }],
      });
    await add('0999_of_tomorrow');
    const expected = refused(78, 'TAILMARK_SCHEMA_NEWER', '0999_of_tomorrow', last);
    for (const argv of [
      ['migrate'],
      ...['ingest', 'detect', 'serve'].map((role) => ['run', '--roles', role]),
    ]) {
      expect(outcome(await rig.cli(argv))).toEqual(expected);
    }
    expect(await rig.cli(['check', '--connect'])).toMatchObject({
      exitCode: 78,
      out: expect.stringContaining('0999_of_tomorrow'),
    });
  }));

it('refuses to migrate while an ingester runs, and an ingester while a migration does', () =>
  withRig({ stack, name: 'locked' }, async (rig) => {
    const forget = (name: string) =>
      rig.client.command({
        query: 'DELETE FROM schema_migrations WHERE name = {name:String}',
        query_params: { name },
        clickhouse_settings: { lightweight_deletes_sync: '2' },
      });
    const pipeline = await rig.start(['ingest']);
    // Nothing to apply: a rollout without a new migration need not stop anything.
    expect(await rig.cli(['migrate'])).toMatchObject({ exitCode: 0 });
    const [applied] = readMigrations().slice(-1);
    await forget(applied?.name ?? '');
    expect(outcome(await rig.cli(['migrate']))).toEqual(
      refused(69, 'TAILMARK_SCHEMA_LOCKED', 'while ingesters hold a lease', 'for another'),
    );
    await pipeline.stop();
    expect(await rig.cli(['migrate'])).toMatchObject({
      exitCode: 0,
      out: expect.stringContaining(`applied ${applied?.name}`),
    });

    const lease = (seconds: number) =>
      rig.client.insert({
        table: 'leases',
        format: 'JSONEachRow',
        values: [{ kind: 'migrate', holder: 'another host/1', seconds }],
      });
    await lease(600);
    expect(outcome(await rig.cli(['run', '--roles', 'ingest']))).toEqual(
      refused(69, 'TAILMARK_SCHEMA_LOCKED', 'while a migration holds a lease', 'another host/1'),
    );
    await lease(0);
    const next = await rig.start(['ingest']);
    await next.stop();
    expect(await rig.rows('SELECT holder FROM leases FINAL WHERE seconds > 0')).toEqual([]);
  }));

it('refuses a second group that stores the same topic, unless it is allowed; then a metric says so', async () => {
  const settings = { INGEST_VERIFY_INTERVAL: '1s' };
  const rig = await Rig.open({ stack, name: 'second_group', settings });
  try {
    const { messages } = benchMessages('second_group', 50, 1);
    await rig.publish(messages.map((value) => ({ value })));
    const first = await rig.start(['ingest', 'serve']);
    await rig.untilConsumed(50);
    const own = rig.config.kafka.group_id;
    const group_id = `${own}_again`;
    const env = { ...rig.env, TAILMARK_KAFKA_GROUP_ID: group_id };
    const conflict = refused(78, 'TAILMARK_GROUP_CONFLICT', `topic ${rig.topic}`, `group ${own} `);
    expect(outcome(await rig.cli(['run', '--roles', 'ingest'], { env }))).toEqual(conflict);
    expect(await rig.consumed()).toBe(50);
    // So do the commands that examine; of the group that stores, they are content.
    const check = await rig.cli(['check', '--connect', '--json'], { env });
    const { findings } = JSON.parse(check.out) as { findings: { ok: boolean }[] };
    expect([check.exitCode, findings.filter(({ ok }) => !ok)]).toMatchObject([
      78,
      [{ what: `consumer group ${group_id}`, code: 'TAILMARK_GROUP_CONFLICT' }],
    ]);
    const alone = `ok    consumer group ${own}: stores its topics into database`;
    const fine = await rig.cli(['check', '--connect', '--roles', 'ingest']);
    expect(fine).toMatchObject({ exitCode: 0, out: expect.stringContaining(alone) });
    const examined = await rig.cli(['doctor'], { env });
    const refusal = new RegExp(`fail {2}consumer group ${group_id}: Cannot ingest .*group ${own} `);
    expect(examined).toMatchObject({ exitCode: 1, out: expect.stringMatching(refusal) });

    const metrics = createMetrics();
    const config = {
      ...rig.config,
      kafka: { ...rig.config.kafka, group_id },
      ingest: { ...rig.config.ingest, allow_other_groups: true },
    };
    const second = await rig.start(['ingest', 'serve'], config, metrics);
    await rig.untilConsumed(100);
    // The rightful one says what goes wrong; the other one was allowed to, and notes it.
    const doubled = (other: string) =>
      `ingest: group ${other} stores topic ${rig.topic} into the same database: every event counts twice`;
    const says = (url: string | undefined, text: string) =>
      poll(text, async () => {
        const ready = await fetch(`${url}/readyz`);
        return (await ready.text()).split('\n').includes(text) ? ready.status : undefined;
      });
    expect(await says(first.url, doubled(group_id))).toBe(503);
    expect(await says(second.url, doubled(own))).toBe(200);
    const groups = () =>
      poll('two groups', async () => {
        const [value] = (await metrics.topicGroups.get()).values;
        return value?.value === 2 ? value : undefined;
      });
    expect(await groups()).toMatchObject({ labels: { topic: rig.topic } });
    await second.stop();
    await first.stop();
    // The first one finds the second group by now.
    expect(outcome(await rig.cli(['run', '--roles', 'ingest']))).toEqual(
      refused(78, 'TAILMARK_GROUP_CONFLICT', `group ${group_id} (`, ' s ago, at 20'),
    );
    // A group that has stored nothing for a day does not count, nor does the import of a file.
    await rig.client.command({
      query: `ALTER TABLE flushes UPDATE flushed_at = flushed_at - INTERVAL 25 HOUR
              WHERE group_id = {group_id:String}`,
      query_params: { group_id },
      clickhouse_settings: { mutations_sync: '2' },
    });
    await rig.client.command({
      query: `INSERT INTO flushes (group_id, topic, end_offset) VALUES ('file/now', {topic:String}, 1)`,
      query_params: { topic: rig.topic },
    });
    await (await rig.start(['ingest'])).stop();
    // One that has stored nothing would count all of it again, however long ago the others stored it.
    await rig.client.command({
      query: 'ALTER TABLE flushes UPDATE flushed_at = flushed_at - INTERVAL 25 HOUR WHERE 1',
      clickhouse_settings: { mutations_sync: '2' },
    });
    const third = { ...rig.env, TAILMARK_KAFKA_GROUP_ID: `${own}_third` };
    const late = refused(78, 'TAILMARK_GROUP_CONFLICT', ' h ago, at 20', `${own}_third`);
    expect(outcome(await rig.cli(['run', '--roles', 'ingest'], { env: third }))).toEqual(late);
    const checked = async (env: Record<string, string>) =>
      (await rig.cli(['check', '--connect', '--roles', 'ingest'], { env })).exitCode;
    expect(await checked(third)).toBe(78);
    // It does not where it begins at the end, or where its offsets say.
    expect(await checked({ ...third, TAILMARK_KAFKA_START_FROM: 'latest' })).toBe(0);
    const admin = createKafkaClient(rig.config.kafka).admin();
    await admin.connect();
    const partitions = [{ partition: 0, offset: '50' }];
    await admin.setOffsets({ groupId: `${own}_third`, topic: rig.topic, partitions });
    await admin.disconnect();
    expect(await checked(third)).toBe(0);
  } catch (error) {
    process.stderr.write(`${rig.tail()}\n`);
    throw error;
  } finally {
    await rig.close();
  }
});

it('a group with a new name goes on exactly where the old one ended, from its offsets', () =>
  withRig({ stack, name: 'renamed_group' }, async (rig) => {
    const { messages } = benchMessages('renamed_group', 120, 1);
    const publish = (from: number, to: number) =>
      rig.publish(messages.slice(from, to).map((value) => ({ value })));
    await publish(0, 50);
    const old = await rig.start(['ingest']);
    await rig.untilConsumed(50);
    await old.stop();
    await publish(50, 80);
    const { group_id } = rig.config.kafka;
    const kafka = { ...rig.config.kafka, group_id: `${group_id}_renamed` };
    const admin = createKafkaClient(rig.config.kafka).admin();
    rig.atEnd(() => admin.disconnect());
    await admin.connect();
    for (const { topic, partitions } of await admin.fetchOffsets({ groupId: group_id })) {
      await admin.setOffsets({ groupId: kafka.group_id, topic, partitions });
    }
    const ingest = { ...rig.config.ingest, allow_other_groups: true };
    const renamed = await rig.start(['ingest'], { ...rig.config, kafka, ingest });
    await publish(80, 120);
    await rig.untilConsumed(120);
    await renamed.stop();
    const verified = await rig.cli(['verify']);
    expect(verified).toMatchObject({ exitCode: 0, out: expect.stringContaining('verified') });
  }));

it('a topic that was deleted and recreated is another one: a group that stored the old one does not matter', () =>
  withRig({ stack, name: 'recreated_group' }, async (rig) => {
    const { messages } = benchMessages('recreated_group', 100, 1);
    await rig.publish(messages.slice(0, 50).map((value) => ({ value })));
    const first = await rig.start(['ingest']);
    await rig.untilConsumed(50);
    await first.stop();
    const admin = createKafkaClient(rig.config.kafka).admin();
    rig.atEnd(() => admin.disconnect());
    await admin.connect();
    await admin.deleteTopics({ topics: [rig.topic] });
    await untilGone(rig.config.kafka, rig.topic);
    await ensureTopics(rig.config.kafka, [{ topic: rig.topic }]);
    await rig.publish(messages.slice(50).map((value) => ({ value })));
    const kafka = { ...rig.config.kafka, group_id: `${rig.config.kafka.group_id}_next` };
    await rig.start(['ingest'], { ...rig.config, kafka });
    await rig.untilConsumed(100);
    // The old group is refused now: it would count the new topic twice.
    expect(outcome(await rig.cli(['run', '--roles', 'ingest']))).toEqual(
      refused(78, 'TAILMARK_GROUP_CONFLICT', `group ${kafka.group_id} `),
    );
  }));
