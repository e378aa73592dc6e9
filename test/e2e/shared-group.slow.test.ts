import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/base/telemetry/metrics.ts';
import type { Config } from '../../src/config/schema.ts';
import { createKafkaClient } from '../../src/kafka/client/kafka-client.ts';
import { openClickHouse } from '../../src/sink/client/clickhouse.ts';
import { useStack } from '../containers/stack.ts';
import { benchMessages } from './kit/bench-messages.ts';
import { migratedDatabase } from './kit/migrated-database.ts';
import { poll } from './kit/poll.ts';
import type { Rig } from './kit/rig.ts';
import { startIngester } from './kit/start-ingester.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const code = 'TAILMARK_GROUP_SHARED';
const settings = { KAFKA_SESSION_TIMEOUT: '6s' };

/** Another deployment with the same group and topic, and a database of its own. */
async function deploy(rig: Rig) {
  const database = `${rig.config.clickhouse.database}_staging`;
  const config: Config = { ...rig.config, clickhouse: { ...rig.config.clickhouse, database } };
  await migratedDatabase(config.clickhouse);
  const client = openClickHouse(config.clickhouse);
  rig.atEnd(async () => {
    await client.command({ query: `DROP DATABASE ${database}` });
    await client.close();
  });
  const consumed = async () => {
    const query =
      'SELECT toUInt32(sum(consumed)) AS n, toInt32(min(start_offset)) AS first FROM flushes';
    const result = await client.query({ query, format: 'JSONEachRow' });
    return (await result.json<{ n: number; first: number }>())[0];
  };
  return { config, client, consumed, env: { ...rig.env, TAILMARK_CLICKHOUSE_DATABASE: database } };
}

const events = (name: string) => benchMessages(name, 200, 1).messages.map((value) => ({ value }));

it('a second database with the same group and topic is refused, beside the first and after it; the first loses nothing', () =>
  withRig({ stack, name: 'shared', partitions: 2, settings }, async (rig) => {
    const staging = await deploy(rig);
    const messages = events('shared');
    const send = (from: number, to: number) =>
      rig.publish(messages.slice(from, to).map((message, n) => ({ ...message, partition: n % 2 })));
    const first = await rig.start(['ingest']);
    // Before any commit, the members say which database they have.
    const beside = await rig.cli(['run', '--roles', 'ingest'], { env: staging.env });
    expect(beside).toMatchObject({
      exitCode: 78,
      err: expect.stringMatching(
        new RegExp(
          `group ${rig.topic} must store topic ${rig.topic} into one database: .+ uses another`,
        ),
      ),
    });
    await send(0, 100);
    await rig.untilConsumed(100);
    await first.stop();
    const after = await rig.cli(['run', '--roles', 'ingest'], { env: staging.env });
    expect(after).toMatchObject({
      exitCode: 78,
      err: expect.stringMatching(
        /its offset \d+ of partition \d says how far another database has come/,
      ),
    });
    expect(after.err).toContain(code);
    const check = await rig.cli(['check', '--connect', '--json'], { env: staging.env });
    const { findings } = JSON.parse(check.out) as { findings: { ok: boolean }[] };
    expect([check.exitCode, findings.filter(({ ok }) => !ok)]).toMatchObject([78, [{ code }]]);
    // Nor does it go on from there if it has got as far as to be given a partition.
    const late = await startIngester(rig, { config: staging.config, storeId: 'staging' });
    await expect(late.failed).rejects.toMatchObject({ code, exitCode: 78 });
    await late.abandon();
    await send(100, 200);
    await rig.start(['ingest']);
    await rig.untilConsumed(200);
    expect(await rig.consumed()).toBe(200);
    expect(await staging.consumed()).toMatchObject({ n: 0 });
    await rig.expectVerified();
  }));

describe('of two databases whose members pass the checks of a start at once', () => {
  it('the one that started first has all partitions, and the other one ends', () =>
    withRig({ stack, name: 'at_once', partitions: 2, settings }, async (rig) => {
      const first = await startIngester(rig, { storeId: 'one' });
      const assigned = () => rig.logLines.filter((line) => line.includes('partition assigned'));
      await poll('the first has its partitions', () => assigned().length === 2 || undefined);
      const second = await startEnding(rig, 'two');
      expect(await second.ended).toMatchObject({ code, exitCode: 78 });
      await second.ingester.abandon();
      await publishSpread(rig, 'at_once');
      await rig.untilConsumed(200);
      expect(rig.logLines.join()).toContain(
        'members of the consumer group store a topic into another',
      );
      await first.drain();
      await rig.expectVerified();
    }));

  it('both end where the later one has begun by then; restarted, that one goes on', () =>
    withRig({ stack, name: 'begun', partitions: 2, settings }, async (rig) => {
      let release = () => {};
      const begun = new Promise<void>((resolve) => {
        release = resolve;
      });
      const starting = startEnding(rig, 'one', begun);
      const startedMs = Date.now();
      await poll('a later time', () => Date.now() > startedMs || undefined);
      const later = await startEnding(rig, 'two');
      await publishSpread(rig, 'begun');
      await rig.untilConsumed(200);
      release();
      const earlier = await starting;
      // By its start the topic is its own, and by the offsets it is not.
      await expect(earlier.ingester.failed).rejects.toMatchObject({ code, exitCode: 78 });
      expect(await later.ended).toMatchObject({ code, exitCode: 78 });
      for (const { ingester } of [earlier, later]) await ingester.abandon();
      const again = await startIngester(rig, { storeId: 'two' });
      await publishSpread(rig, 'begun');
      await rig.untilConsumed(400);
      await again.drain();
      await rig.expectVerified();
    }));
});

const publishSpread = (rig: Rig, name: string) =>
  rig.publish(events(name).map((message, n) => ({ ...message, partition: n % 2 })));

/** An ingester that joins once `begun` resolves; `ended` resolves with the reason why its source ends. */
async function startEnding(rig: Rig, storeId: string, begun?: Promise<void>) {
  let ended: Promise<unknown> = Promise.resolve();
  const ingester = await startIngester(rig, {
    storeId,
    wrapSource: (source) => {
      ended = source.done.catch((error: unknown) => error);
      const start = source.start.bind(source);
      source.start = async (handler) => {
        await begun;
        return start(handler);
      };
      return source;
    },
  });
  return { ingester, ended };
}

it('a restored database goes on where its ledger ends, once the offsets of the group are deleted', () =>
  withRig({ stack, name: 'restored', settings }, async (rig) => {
    const restored = await deploy(rig);
    const messages = events('restored');
    for (const [from, to] of [
      [0, 100],
      [100, 200],
    ] as const) {
      await rig.publish(messages.slice(from, to));
      const pipeline = await rig.start(['ingest']);
      await rig.untilConsumed(to);
      await pipeline.stop();
      if (to === 200) continue;
      // The backup, of which the ledger matters here.
      const { database } = restored.config.clickhouse;
      await rig.client.command({ query: `INSERT INTO ${database}.flushes SELECT * FROM flushes` });
    }
    const run = () => rig.cli(['run', '--roles', 'ingest'], { env: restored.env });
    expect(await run()).toMatchObject({ exitCode: 78, err: expect.stringContaining(code) });
    const admin = createKafkaClient(rig.config.kafka).admin();
    await admin.connect();
    rig.atEnd(() => admin.disconnect());
    await poll('the offsets are deleted', () =>
      admin.deleteGroups([rig.config.kafka.group_id]).then(
        () => true,
        () => undefined,
      ),
    );
    await rig.start(['ingest'], restored.config);
    await poll('all is stored', async () =>
      (await restored.consumed())?.n === 200 ? true : undefined,
    );
    const verified = await rig.cli(['verify', '--json'], { env: restored.env });
    expect(verified.out).not.toMatch(/"kind":"(gap|overlap)"/);
  }));

it('two databases that share the group of detectors have a leader each', () =>
  withRig({ stack, name: 'leaders', settings: { DETECT_SESSION_TIMEOUT: '6s' } }, async (rig) => {
    const staging = await deploy(rig);
    const all = [rig.config, staging.config].map((config) => ({
      config,
      metrics: createMetrics(),
    }));
    for (const { config, metrics } of all) await rig.start(['detect'], config, metrics);
    await poll('both lead', async () => {
      const leads = all.map(
        async ({ metrics }) => (await metrics.detectorLeader.get()).values[0]?.value,
      );
      return (await Promise.all(leads)).every((value) => value === 1) || undefined;
    });
  }));
