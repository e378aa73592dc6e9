import { describe, expect, it } from 'vitest';
import { untilTurn } from '../../src/ingest/chunk-turn.ts';
import type { RecordBatch } from '../../src/source/record.ts';
import { FakeBench, logOf, recordAt } from './fake-bench.ts';
import { FakeBroker } from './fake-broker.ts';
import { logNowMs, logStartMs } from './fake-log.ts';
import { testConfig } from './test-config.ts';

const chunksOf = (events: number) => testConfig({ flush_max_events: events });

describe('sealIfDue', () => {
  it('seals at the turn, not before; the first chunk after a second', async () => {
    const bench = new FakeBench(logOf(6));
    const sealsAt = async (nowMs: number) => {
      bench.world.nowMs = nowMs;
      const before = bench.ranges.length;
      bench.ingest.sealIfDue(5_000);
      await bench.respondToAll();
      return bench.ranges.length > before;
    };
    const batch = bench.broker.batch(0, 3);
    if (batch === undefined) throw new Error('no batch');
    void bench.ingest.onBatch(batch, bench.claim.keepAlive);
    await bench.respondToAll();
    expect(await sealsAt(logNowMs + 999)).toBe(false);
    expect(await sealsAt(logNowMs + 1_000)).toBe(true);
    void bench.batch(3);
    await bench.respondToAll();
    // The latest event of the chunk before was so late that its window is complete by so much later.
    const openedMs = logNowMs + 1_000;
    const delayMs = openedMs - (logStartMs + 2_000);
    const arrivalMs = testConfig().windows.grace + delayMs;
    const turnMs = openedMs + untilTurn(openedMs, { partition: 0, intervalMs: 5_000, arrivalMs });
    expect(await sealsAt(turnMs - 1)).toBe(false);
    expect(await sealsAt(turnMs)).toBe(true);
    expect(bench.ranges).toEqual([
      [0, 3],
      [3, 6],
    ]);
  });

  it.each([
    ['no more than a thousand records wait', 100, 1_000, 1_000],
    ['more wait than are read in a second', 1_100, 1_102, 20_000],
  ])('fills a chunk for longer while it is behind: %s', async (_, read, waiting, dueMs) => {
    const bench = new FakeBench(logOf(read), chunksOf(1_000_000));
    const batch = bench.broker.batch(0, read) as RecordBatch;
    const highWatermark = batch.nextOffset + waiting;
    void bench.ingest.onBatch({ ...batch, highWatermark }, bench.claim.keepAlive);
    await bench.respondToAll();
    const startMs = bench.world.nowMs;
    let ms = 0;
    do {
      ms += 500;
      bench.world.nowMs = startMs + ms;
      bench.ingest.sealIfDue(5_000);
      await bench.respondToAll();
    } while (bench.ranges.length === 0);
    expect(ms).toBe(dueMs);
  });

  it('puts all that waits into the first chunk if it is read soon', async () => {
    const bench = new FakeBench(logOf(2_150), chunksOf(1_000_000));
    const batch = bench.broker.batch(0, 1_100) as RecordBatch;
    void bench.ingest.onBatch(batch, bench.claim.keepAlive);
    await bench.respondToAll();
    bench.world.nowMs += 1_000;
    bench.ingest.sealIfDue(5_000);
    await bench.respondToAll();
    expect(bench.ranges).toEqual([]);
    void bench.batch(1_100);
    await bench.respondToAll();
    bench.ingest.sealIfDue(5_000);
    await bench.respondToAll();
    expect(bench.ranges).toEqual([[0, 2_150]]);
  });

  it('seals the chunks after it at the partition’s turn, whenever the first was begun', async () => {
    for (const startMs of [0, 3_000, 9_990]) {
      // A fast clock of a producer is no delay.
      const records = Array.from({ length: 8 }, (_, i) => recordAt(i, logNowMs + 200_000));
      const bench = new FakeBench(new FakeBroker(records, 8, 1));
      const sealedAtMs: number[] = [];
      bench.world.nowMs = Math.ceil(logNowMs / 10_000) * 10_000 + startMs;
      for (let offset = 0; offset < 4; offset++) {
        const batch = bench.broker.batch(offset, 1) as RecordBatch;
        void bench.ingest.onBatch(batch, bench.claim.keepAlive);
        while (bench.ranges.length === offset) {
          bench.world.nowMs += 10;
          bench.ingest.sealIfDue(10_000);
          await bench.respondToAll();
        }
        sealedAtMs.push(bench.world.nowMs);
      }
      // Partition 1: 0.618 of 2.5 s after the first turn. The clock advances by some 10 ms.
      const phases = sealedAtMs.slice(1).map((ms) => Math.round((ms % 10_000) / 50) * 50);
      expect(phases).toEqual([6_550, 6_550, 6_550]);
      expect((sealedAtMs[3] ?? 0) - (sealedAtMs[1] ?? 0)).toBeGreaterThan(19_900);
    }
  });

  it('does not seal an empty chunk, nor while a chunk is being stored', async () => {
    const bench = new FakeBench(logOf(8), chunksOf(5));
    bench.ingest.sealIfDue(0);
    void bench.batch(0);
    await bench.respondToAll(['insert']);
    bench.ingest.sealIfDue(0);
    await bench.respondToAll(['insert']);
    expect(bench.open).toEqual(['insert']);
    await bench.respondToAll();
    bench.ingest.sealIfDue(0);
    await bench.respondToAll();
    bench.ingest.sealIfDue(0);
    await bench.respondToAll();
    expect(bench.ranges).toEqual([
      [0, 5],
      [5, 8],
    ]);
  });

  it('covers offsets that hold no record', async () => {
    const bench = new FakeBench(logOf([0, 1, 5, 9], 12));
    void bench.batch(0);
    await bench.respondToAll();
    bench.ingest.sealIfDue(0);
    await bench.respondToAll();
    expect(bench.ranges).toEqual([[0, 12]]);
    expect(bench.store.ledger).toMatchObject([{ records: 4, consumed: 4 }]);
  });
});
