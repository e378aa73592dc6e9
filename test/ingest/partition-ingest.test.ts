import { describe, expect, it } from 'vitest';
import { decodeMetadata, encodeMetadata } from '../../src/ingest/commit-metadata.ts';
import { RecordList } from '../../src/source/record.ts';
import { ClaimLostError } from '../../src/source/source.ts';
import { FakeBench, logOf, recordAt } from './fake-bench.ts';
import { FakeBroker } from './fake-broker.ts';
import { logNowMs, logStartMs } from './fake-log.ts';
import { MadeFailure } from './fake-world.ts';
import { testConfig } from './test-config.ts';
import { testIntent } from './test-intent.ts';

const here = { logId: 'c/t', leaderEpoch: -1 };
const intent = (endOffset: number, nowMs = logNowMs, watermarkMs = logStartMs) =>
  encodeMetadata({ ...here, watermarkMs, intent: testIntent(endOffset, nowMs) });
const chunksOf = (events: number) => testConfig({ flush_max_events: events });

/** A broker with a commit of a predecessor. */
function committed(broker: FakeBroker, offset: number, metadata: string): FakeBroker {
  broker.commit(broker.join(), offset, metadata);
  return broker;
}

describe('a claimed partition', () => {
  it('without a commit starts at its first record', async () => {
    const bench = new FakeBench(logOf([7, 8, 9]));
    const handled = bench.batch(0);
    await bench.respondToAll();
    await handled;
    await Promise.all([bench.ingest.drain(), bench.respondToAll()]);
    expect(bench.ranges).toEqual([[7, 10]]);
    expect(bench.broker.committed).toEqual({
      offset: 10,
      metadata: encodeMetadata({ ...here, watermarkMs: logStartMs + 9_000 }),
    });
  });

  it('starts at the committed offset, and skips records below it', async () => {
    const bench = new FakeBench(committed(logOf(9), 4, ''));
    void bench.batch(1);
    await bench.respondToAll();
    await Promise.all([bench.ingest.drain(), bench.respondToAll()]);
    expect(bench.ranges).toEqual([[4, 9]]);
    expect(bench.store.ledger).toMatchObject([{ records: 5, consumed: 5 }]);
  });

  it('starts at the committed offset also where the first record comes later', async () => {
    const bench = new FakeBench(committed(logOf([0, 1, 6, 7]), 3, 'of somebody else'));
    void bench.batch(3);
    await bench.respondToAll();
    await Promise.all([bench.ingest.drain(), bench.respondToAll()]);
    expect(bench.ranges).toEqual([[3, 8]]);
  });
});

describe('the leader epoch of a chunk', () => {
  it.each([
    ['its last record', 2, 4],
    ['the batch, where it ends with offsets without a record', 5, 6],
  ])('is that of %s', async (_, nextOffset, leaderEpoch) => {
    const bench = new FakeBench(logOf(2));
    const records = [0, 1].map((offset) => ({ ...recordAt(offset), leaderEpoch: 4 }));
    const range = { topic: 't', partition: 0, fetchOffset: 0, nextOffset, highWatermark: 5 };
    const batch = { ...range, records: new RecordList(records), leaderEpoch: 6 };
    void bench.ingest.onBatch(batch, bench.claim.keepAlive);
    await Promise.all([bench.ingest.drain(), bench.respondToAll()]);
    const { offset, metadata } = bench.broker.committed;
    expect(offset).toBe(nextOffset);
    expect(decodeMetadata(metadata)?.leaderEpoch).toBe(leaderEpoch);
  });
});

describe('the delay of stored events', () => {
  it('is counted by chunk, from its latest event on, where that is later than those before', async () => {
    // The last chunk has an event that is earlier than those of the first.
    const records = [recordAt(0), recordAt(1, logStartMs + 9_000), recordAt(2, logStartMs + 5_000)];
    const bench = new FakeBench(new FakeBroker(records, 3), chunksOf(2));
    void bench.batch(0);
    await bench.respondToAll();
    await Promise.all([bench.ingest.drain(), bench.respondToAll()]);
    expect(bench.ranges).toEqual([
      [0, 2],
      [2, 3],
    ]);
    const { values } = await bench.metrics.eventStoredSeconds.get();
    const found = values.filter(({ metricName }) => /_(sum|count)$/.test(metricName ?? ''));
    const [sum, count] = found.map(({ value }) => value);
    // Storing takes some milliseconds of the fake clock.
    expect(sum).toBeCloseTo((logNowMs - logStartMs - 9_000) / 1000, 0);
    expect(count).toBe(1);
  });
});

describe('an inherited intent', () => {
  it('ends exactly at its boundary, however small chunks are', async () => {
    const bench = new FakeBench(committed(logOf(20), 2, intent(13)), chunksOf(4));
    void bench.batch(2);
    await bench.respondToAll();
    await Promise.all([bench.ingest.drain(), bench.respondToAll()]);
    expect(bench.ranges).toEqual([
      [2, 13],
      [13, 17],
      [17, 20],
    ]);
  });

  it.each([
    ['within a gap', [2, 3, 9, 10], 6],
    ['behind the last record', [2, 3], 8],
  ])('ends at its boundary %s', async (_, offsets, end) => {
    const bench = new FakeBench(committed(logOf(offsets, 11), 2, intent(end)));
    void bench.batch(2);
    await bench.respondToAll();
    expect(bench.ranges).toEqual([[2, end]]);
    expect(bench.broker.committed.offset).toBe(end);
  });

  it('uses the clock and the watermark of the process that wrote it', async () => {
    const records = [
      recordAt(5, logNowMs - 7_200_000 + 300_000),
      recordAt(6, logNowMs - 7_200_000 + 300_001),
      recordAt(7, logStartMs),
      recordAt(8, logStartMs - 7_200_001),
    ];
    const broker = committed(
      new FakeBroker(records, 9),
      5,
      intent(9, logNowMs - 7_200_000, logStartMs - 4_500_000),
    );
    const bench = new FakeBench(broker);
    void bench.batch(5);
    await bench.respondToAll();
    // Five minutes ahead of that clock, a millisecond more, in time, too late.
    expect(bench.store.ledger).toMatchObject([
      { start_offset: 5, end_offset: 9, aggregated: 1, rejected: 2, late: 1 },
    ]);
  });

  it('uses the settings of the process that wrote it, and the next chunk the current ones', async () => {
    const note = encodeMetadata({
      ...here,
      watermarkMs: undefined,
      intent: {
        ...testIntent(4, logNowMs),
        settings: { ...testIntent(4, logNowMs).settings, maxDurationMs: 1 },
      },
    });
    const bench = new FakeBench(committed(logOf(8), 0, note));
    void bench.batch(0);
    await bench.respondToAll();
    await Promise.all([bench.ingest.drain(), bench.respondToAll()]);
    // Events of 2 ms: too long by the old settings, valid by the new ones.
    expect(bench.store.ledger).toMatchObject([
      { start_offset: 0, end_offset: 4, rejected: 4, aggregated: 0 },
      { start_offset: 4, end_offset: 8, rejected: 0, aggregated: 4 },
    ]);
  });

  it('keeps the name from its predecessor, where its first records are gone by now', async () => {
    const broker = committed(logOf([3, 4, 5]), 0, intent(6));
    const bench = new FakeBench(broker);
    void bench.batch(0);
    await bench.respondToAll();
    expect(bench.store.tables[0]?.blocks.has('g/t/0/c/t/0-6@3')).toBe(true);
    // The intent had counted ten events; three are left.
    expect(bench.store.ledger).toMatchObject([
      { start_offset: 0, end_offset: 6, consumed: 3, removed_events: 7, removed_offsets: 0 },
    ]);
    expect(bench.lines.filter((line) => line.includes('removed from Kafka'))).toEqual([
      '7 events were removed from Kafka before they were stored; keep records for longer than the longest outage: ' +
        'retention.ms, retention.bytes and cleanup.policy=delete of the topic',
    ]);
    expect(await bench.removed()).toEqual({ exact: 7, at_most: 0 });
  });

  it('that is on the ledger is not inserted again, even when its token is forgotten', async () => {
    const broker = logOf(10);
    const first = new FakeBench(broker, chunksOf(6));
    void first.batch(0);
    await first.respondToAll(['commit end']);
    expect(first.ranges).toEqual([[0, 6]]);
    expect(broker.committed.offset).toBe(0);
    first.store.forgetTokens();

    const second = new FakeBench(broker, chunksOf(6));
    second.store.ledger.push(...first.store.ledger);
    void second.batch(0);
    await second.respondToAll();
    expect(second.store.insertCount).toBe(0);
    expect(second.ranges).toEqual([[0, 6]]);
    expect(broker.committed.offset).toBe(6);
  });

  it('that is not on the ledger is inserted', async () => {
    const bench = new FakeBench(committed(logOf(6), 0, intent(6)));
    void bench.batch(0);
    await bench.respondToAll();
    expect(bench.store.insertCount).toBe(1);
    expect(bench.ranges).toEqual([[0, 6]]);
  });

  it.each([
    ['beyond', [8, 9, 10]],
    ['at its end', [6, 7]],
  ])('without a record left is recorded as empty, before the records %s', async (_, offsets) => {
    const bench = new FakeBench(committed(logOf(offsets), 2, intent(6)));
    const handled = bench.batch(2);
    await bench.respondToAll();
    await handled;
    await Promise.all([bench.ingest.drain(), bench.respondToAll()]);
    expect(bench.ranges).toEqual([
      [2, 6],
      [6, (offsets.at(-1) ?? 0) + 1],
    ]);
    expect(bench.store.ledger[0]).toMatchObject({ records: 0, consumed: 0, removed_events: 10 });
    expect(bench.store.ledger[1]).toMatchObject({ removed_events: 0, removed_offsets: 0 });
  });

  it('of an own predecessor that lacked records already sums up what is gone since the first intent', async () => {
    const first = testIntent(6, logNowMs, { records: 4, consumed: 4, removedEvents: 6 });
    const note = encodeMetadata({ ...here, watermarkMs: undefined, intent: first });
    const bench = new FakeBench(committed(logOf([3, 5]), 0, note));
    void bench.batch(0);
    await bench.respondToAll();
    expect(bench.store.ledger).toMatchObject([{ consumed: 2, removed_events: 8 }]);
  });

  it('that is not read to its end is left, with its intent, to the next process', async () => {
    const broker = committed(logOf(10), 2, intent(9));
    const bench = new FakeBench(broker);
    const batch = broker.batch(2, 3);
    void bench.ingest.onBatch(
      {
        topic: 't',
        partition: 0,
        fetchOffset: 2,
        highWatermark: 10,
        records: new RecordList([]),
        ...batch,
        nextOffset: 5,
      },
      bench.claim.keepAlive,
    );
    await bench.respondToAll();
    bench.ingest.sealIfDue(0);
    await Promise.all([bench.ingest.drain(), bench.respondToAll()]);
    expect(bench.ranges).toEqual([]);
    expect(broker.committed).toEqual({ offset: 2, metadata: intent(9) });
  });
});

describe('a watermark', () => {
  it('is limited by the clock, for any clock of a producer', async () => {
    const bench = new FakeBench(
      new FakeBroker([recordAt(0, logNowMs - 60_000), recordAt(1, logNowMs + 240_000)], 2),
    );
    void bench.batch(0);
    await bench.respondToAll();
    await Promise.all([bench.ingest.drain(), bench.respondToAll()]);
    const { watermarkMs = 0 } = decodeMetadata(bench.broker.committed.metadata) ?? {};
    expect(bench.store.ledger).toMatchObject([{ aggregated: 2 }]);
    expect(watermarkMs).toBeGreaterThanOrEqual(logNowMs);
    expect(watermarkMs).toBeLessThan(logNowMs + 1_000);
  });

  it('makes no event late that is not late by the clock', async () => {
    const config = testConfig();
    const bench = new FakeBench(
      new FakeBroker([recordAt(0, logNowMs + 240_000), recordAt(1, logNowMs - 59_000)], 2),
      { ...config, windows: { ...config.windows, allowed_lateness: 60_000 } },
    );
    void bench.batch(0);
    await bench.respondToAll();
    await Promise.all([bench.ingest.drain(), bench.respondToAll()]);
    expect(bench.store.ledger).toMatchObject([{ aggregated: 2, late: 0 }]);
  });
});

describe('back-pressure', () => {
  it('keeps one chunk being stored and one filled, and holds the batch', async () => {
    const readOffsets = new Set<number>();
    const records = Array.from({ length: 30 }, (_, offset) => {
      const { value, ...record } = recordAt(offset);
      return {
        ...record,
        get value() {
          readOffsets.add(offset);
          return value;
        },
      };
    });
    const bench = new FakeBench(new FakeBroker(records, 30), chunksOf(5));
    let isHandled = false;
    void bench.batch(0).then(() => {
      isHandled = true;
    });
    await bench.respondToAll(['insert'], 200);
    expect(isHandled).toBe(false);
    expect(bench.open.filter((name) => name === 'insert')).toHaveLength(1);
    expect(readOffsets.size).toBe(10);
    expect(bench.broker.committed.offset).toBe(0);
    expect(decodeMetadata(bench.broker.committed.metadata)?.intent?.endOffset).toBe(5);
    // It keeps sending heartbeats, without end.
    const before = bench.world.nowMs;
    await bench.respondToAll(['insert'], 100);
    expect(bench.world.nowMs - before).toBeGreaterThan(20 * 500);
    expect(readOffsets.size).toBe(10);
    await bench.respondToAll();
    expect(isHandled).toBe(true);
    await Promise.all([bench.ingest.drain(), bench.respondToAll()]);
    expect(bench.ranges).toEqual([0, 5, 10, 15, 20, 25].map((from) => [from, from + 5]));
  });

  it('ends when the claim is lost meanwhile', async () => {
    const bench = new FakeBench(logOf(30), chunksOf(5));
    const handled = bench.batch(0);
    handled.catch(() => undefined);
    await bench.respondToAll(['insert'], 60);
    bench.broker.join();
    await bench.respondToAll(['insert'], 60);
    await expect(handled).rejects.toThrow(ClaimLostError);
    await bench.respondToAll();
    // The insert arrived without a ledger row: the next process writes that.
    expect(bench.store.insertCount).toBe(1);
    expect(bench.ranges).toEqual([]);
    expect(bench.failures).toEqual([]);
    await expect(bench.ingest.drain()).rejects.toThrow(ClaimLostError);
  });
});

describe('drain', () => {
  it('stores everything received, and no later record', async () => {
    const bench = new FakeBench(logOf(2_500), chunksOf(1_000_000));
    const handled = bench.batch(0);
    await bench.respondToAll(['yieldToEventLoop']);
    expect(bench.open).toEqual(['yieldToEventLoop']);
    const drained = bench.ingest.drain();
    await bench.respondToAll();
    await Promise.all([handled, drained]);
    expect(bench.ranges).toEqual([[0, 1_000]]);
    expect(bench.broker.committed.offset).toBe(1_000);
  });

  it('waits for the chunk being stored, then stores the open one', async () => {
    const bench = new FakeBench(logOf(8), chunksOf(5));
    void bench.batch(0);
    await bench.respondToAll(['insert']);
    let isDrained = false;
    const drained = bench.ingest.drain().then(() => {
      isDrained = true;
    });
    await bench.respondToAll(['insert']);
    expect(isDrained).toBe(false);
    await bench.respondToAll();
    await drained;
    expect(bench.ranges).toEqual([
      [0, 5],
      [5, 8],
    ]);
  });

  it('of a partition that is not placed yet has nothing to store', async () => {
    const bench = new FakeBench(logOf(8));
    await bench.ingest.drain();
    void bench.batch(0);
    await bench.respondToAll();
    expect(bench.ranges).toEqual([]);
    expect(bench.broker.committed.offset).toBeUndefined();
  });
});

describe('a chunk that cannot be stored for a bug of tailmark', () => {
  it('stops the partition: nothing beyond it is stored or committed', async () => {
    const broken = new Error('BUG: sleep');
    const bench = new FakeBench(logOf(20), chunksOf(5), { sleep: () => Promise.reject(broken) });
    const batch = bench.broker.batch(0, 7);
    if (batch === undefined) throw new Error('no batch');
    void bench.ingest.onBatch(batch, bench.claim.keepAlive);
    await bench.respondToAll(['insert']);
    bench.world.removeAt(0).refuse(new MadeFailure('insert'));
    await bench.respondToAll();
    expect(bench.failures).toEqual([broken]);
    bench.ingest.sealIfDue(0);
    await bench.respondToAll();
    const again = bench.broker.batch(0, 7) ?? batch;
    await expect(bench.ingest.onBatch(again, bench.claim.keepAlive)).rejects.toBe(broken);
    await expect(bench.ingest.drain()).rejects.toBe(broken);
    expect(bench.broker.committed.offset).toBe(0);
    expect(bench.ranges).toEqual([]);
    expect(bench.failures).toHaveLength(1);
  });
});
