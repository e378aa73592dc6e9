import { describe, expect, it } from 'vitest';
import { encodeMetadata } from '../../src/ingest/commit-metadata.ts';
import type { UnstoredLog } from '../../src/ingest/start-position.ts';
import { RecordList } from '../../src/source/record.ts';
import { FakeBench, logOf, recordAt } from './fake-bench.ts';
import type { FakeBroker } from './fake-broker.ts';
import { logNowMs, logStartMs } from './fake-log.ts';
import { testConfig } from './test-config.ts';
import { testIntent } from './test-intent.ts';

const here = { logId: 'c/t', leaderEpoch: -1 };
const intent = (endOffset: number) =>
  encodeMetadata({ ...here, watermarkMs: logStartMs, intent: testIntent(endOffset, logNowMs) });

/** A broker with a commit of a predecessor. */
function committed(broker: FakeBroker, offset: number, metadata: string): FakeBroker {
  broker.commit(broker.join(), offset, metadata);
  return broker;
}

describe('a group that begins', () => {
  it('commits where it begins before it has read anything, so that what is removed then is known', async () => {
    const bench = new FakeBench(logOf(0), undefined, undefined, {}, { mustCommit: true });
    bench.ingest.sealIfDue(1_000);
    bench.ingest.sealIfDue(1_000);
    expect(bench.open).toEqual(['commit end']);
    await bench.respondToAll();
    expect(bench.broker.committed).toEqual({
      offset: 0,
      metadata: encodeMetadata({ ...here, watermarkMs: undefined }),
    });
  });

  it('reads a record again first where the ledger says where it begins', async () => {
    const position = { mustCommit: true, readOffset: 4 };
    const bench = new FakeBench(committed(logOf(9), 5, ''), undefined, undefined, {}, position);
    bench.ingest.sealIfDue(1_000);
    expect(bench.open).toEqual([]);
    void bench.batch(4);
    await bench.respondToAll(['commit end']);
    expect(bench.open).toEqual(['commit end']);
  });
});

describe('records that Kafka has removed', () => {
  /** A bench whose log begins at an offset, without a record being read. */
  const benchAt = (broker: FakeBroker, readOffset: number) =>
    new FakeBench(broker, undefined, undefined, {}, { reason: 'expired', readOffset });

  it('are a range of their own in the ledger, before any record is read', async () => {
    const broker = committed(logOf([9, 10]), 4, '');
    const bench = benchAt(broker, 9);
    bench.ingest.sealIfDue(1_000);
    await bench.respondToAll();
    expect(bench.store.ledger).toMatchObject([
      { start_offset: 4, end_offset: 9, records: 0, removed_events: 0, removed_offsets: 5 },
    ]);
    expect(broker.committed.offset).toBe(9);
    expect(await bench.removed()).toEqual({ exact: 0, at_most: 5 });
    void bench.batch(9);
    await bench.respondToAll();
    await Promise.all([bench.ingest.drain(), bench.respondToAll()]);
    expect(bench.ranges).toEqual([
      [4, 9],
      [9, 11],
    ]);
    expect(bench.store.ledger[1]).toMatchObject({ records: 2, removed_offsets: 0 });
  });

  it('are a range of their own too where a record comes first', async () => {
    const bench = benchAt(committed(logOf([9, 10]), 4, ''), 9);
    void bench.batch(9);
    await bench.respondToAll();
    await Promise.all([bench.ingest.drain(), bench.respondToAll()]);
    expect(bench.ranges).toEqual([
      [4, 9],
      [9, 11],
    ]);
  });

  it('of a whole pending chunk and behind it are counted apart: what it had counted, and what nobody had read', async () => {
    const bench = benchAt(committed(logOf([]), 2, intent(6)), 9);
    for (let tick = 0; tick < 3; tick++) {
      bench.ingest.sealIfDue(1_000);
      await bench.respondToAll();
    }
    expect(bench.store.ledger).toMatchObject([
      { start_offset: 2, end_offset: 6, removed_events: 10, removed_offsets: 0 },
      { start_offset: 6, end_offset: 9, removed_events: 0, removed_offsets: 3 },
    ]);
    expect(bench.broker.committed.offset).toBe(9);
  });

  it('of a whole pending chunk and behind it are no part of the chunk of the records that come', async () => {
    const bench = benchAt(committed(logOf([9, 10]), 2, intent(6)), 9);
    void bench.batch(9);
    await bench.respondToAll();
    await Promise.all([bench.ingest.drain(), bench.respondToAll()]);
    expect(bench.store.ledger).toMatchObject([
      { start_offset: 2, end_offset: 6, records: 0, removed_events: 10, removed_offsets: 0 },
      { start_offset: 6, end_offset: 9, records: 0, removed_events: 0, removed_offsets: 3 },
      { start_offset: 9, end_offset: 11, records: 2, removed_events: 0, removed_offsets: 0 },
    ]);
  });

  it.each([
    ['all of them', 0, [0, 2, 5]],
    ['none that was gone when the group began', 8, [0, 0, 3]],
  ])('between records are counted by the chunk of the record behind: %s', async (_, from, due) => {
    const config = testConfig({ flush_max_events: 2 });
    const bench = new FakeBench(logOf(12), config, undefined, {}, { removedFrom: from });
    const records = [0, 1, 4, 5, 9].map((offset, n, offsets) => ({
      ...recordAt(offset),
      removedBefore: offset - (offsets[n - 1] ?? -1) - 1,
    }));
    const handled = bench.ingest.onBatch(
      {
        ...{ topic: 't', partition: 0, fetchOffset: 0, nextOffset: 12, highWatermark: 12 },
        records: Object.assign(new RecordList(records), { removedAtEnd: 2 }),
      },
      bench.claim.keepAlive,
    );
    await bench.respondToAll();
    await handled;
    await Promise.all([bench.ingest.drain(), bench.respondToAll()]);
    expect(bench.ranges).toEqual([
      [0, 2],
      [2, 6],
      [6, 12],
    ]);
    expect(bench.store.ledger.map((row) => row.removed_offsets)).toEqual(due);
  });

  it('of a chunk that had landed are not removed events: it counts as its sender says', async () => {
    const broker = logOf(6);
    const first = new FakeBench(broker, testConfig({ flush_max_events: 6 }));
    void first.batch(0);
    await first.respondToAll(['record']);
    expect(first.store.ledger).toEqual([]);
    first.world.kill(0);
    const second = new FakeBench(
      committed(logOf([]), 0, broker.committed.metadata),
      undefined,
      undefined,
      { store: first.store.of(1) },
      { reason: 'expired', readOffset: 6 },
    );
    second.ingest.sealIfDue(1_000);
    for (let turns = 0; turns < 10; turns++) {
      await second.respondToAll();
      await first.respondToAll();
    }
    expect(first.store.ledger).toMatchObject([
      { start_offset: 0, end_offset: 6, consumed: 6, removed_events: 0, removed_offsets: 0 },
    ]);
    expect(await second.removed()).toEqual({ exact: 0, at_most: 0 });
  });
});

describe('a topic that was deleted and recreated', () => {
  const lost = (endOffset: number, begun?: number): UnstoredLog => ({
    ...{ logId: 'c/old', startOffset: 40, endOffset },
    intent: begun === undefined ? undefined : testIntent(begun, logNowMs),
  });
  /** A bench on the new log, which has three records. */
  const benchWith = (position: UnstoredLog) =>
    new FakeBench(logOf(3), undefined, undefined, {}, { reason: 'recreated', lost: position });

  it.each([
    [
      'a chunk that was begun, and what was known behind it',
      lost(60, 50),
      [
        {
          log_id: 'c/old',
          start_offset: 40,
          end_offset: 50,
          removed_events: 10,
          removed_offsets: 0,
        },
        {
          log_id: 'c/old',
          start_offset: 50,
          end_offset: 60,
          removed_events: 0,
          removed_offsets: 10,
        },
      ],
    ],
    [
      'a chunk that was begun',
      lost(50, 50),
      [
        {
          log_id: 'c/old',
          start_offset: 40,
          end_offset: 50,
          removed_events: 10,
          removed_offsets: 0,
        },
      ],
    ],
    [
      'what was known',
      lost(60),
      [
        {
          log_id: 'c/old',
          start_offset: 40,
          end_offset: 60,
          removed_events: 0,
          removed_offsets: 20,
        },
      ],
    ],
  ])('with records that are not stored: the ledger says first %s', async (_, position, rows) => {
    const bench = benchWith(position);
    void bench.batch(0);
    await bench.respondToAll();
    await Promise.all([bench.ingest.drain(), bench.respondToAll()]);
    expect(bench.store.ledger).toMatchObject([
      ...rows.map((row) => ({ ...row, records: 0 })),
      { log_id: 'c/t', start_offset: 0, end_offset: 3, records: 3, removed_offsets: 0 },
    ]);
    expect(bench.broker.committed.offset).toBe(3);
    const sum = (name: 'removed_events' | 'removed_offsets') =>
      rows.reduce((total, row) => total + row[name], 0);
    expect(await bench.removed()).toEqual({
      exact: sum('removed_events'),
      at_most: sum('removed_offsets'),
    });
    expect(bench.lines.filter((line) => line.includes('removed from Kafka'))).toHaveLength(
      rows.length,
    );
  });

  it('says it before a record is read, and though none comes', async () => {
    const bench = benchWith(lost(60, 50));
    for (let tick = 0; tick < 3; tick++) {
      bench.ingest.sealIfDue(1_000);
      await bench.respondToAll();
    }
    expect(bench.ranges).toEqual([
      [40, 50],
      [50, 60],
    ]);
  });

  it('leaves to its next reader what was read, begun and known of it', async () => {
    const broker = logOf(6, 9);
    const bench = new FakeBench(broker, testConfig({ flush_max_events: 4 }));
    void bench.batch(0);
    await bench.respondToAll(['insert']);
    expect(bench.ingest.unstored).toMatchObject({
      ...{ logId: 'c/t', startOffset: 0, endOffset: 9 },
      intent: { endOffset: 4, counts: { consumed: 4 } },
    });
    await bench.respondToAll();
    expect(bench.ingest.unstored).toMatchObject({
      startOffset: 4,
      endOffset: 9,
      intent: undefined,
    });
  });
});
