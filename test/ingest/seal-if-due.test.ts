import { describe, expect, it } from 'vitest';
import type { RecordBatch } from '../../src/source/record.ts';
import { FakeBench, logOf, recordAt } from './fake-bench.ts';
import { FakeBroker } from './fake-broker.ts';
import { logNowMs } from './fake-log.ts';
import { testConfig } from './test-config.ts';

const chunksOf = (events: number) => testConfig({ flush_max_events: events });

describe('sealIfDue', () => {
  it('seals after the interval, not before; the first chunk after a second', async () => {
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
    expect(await sealsAt(logNowMs + 5_999)).toBe(false);
    expect(await sealsAt(logNowMs + 6_000)).toBe(true);
    expect(bench.ranges).toEqual([
      [0, 3],
      [3, 6],
    ]);
  });

  it.each([
    ['no more than a thousand records wait', 100, 1_000, 1_000],
    ['more wait than are read in a second', 1_100, 1_102, 30_000],
    ['more wait, and are read in a second', 1_100, 1_050, 1_000],
  ])('fills a chunk for six intervals while it is behind: %s', async (_, read, waiting, dueMs) => {
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

  it('seals the second chunk of each partition at another time, and those after it by the interval', async () => {
    const phases: number[] = [];
    for (let partition = 0; partition < 8; partition++) {
      const records = Array.from({ length: 8 }, (_, offset) => recordAt(offset));
      const bench = new FakeBench(new FakeBroker(records, 8, partition));
      const sealedAtMs: number[] = [];
      for (let offset = 0; offset < 4; offset++) {
        const batch = bench.broker.batch(offset, 1) as RecordBatch;
        void bench.ingest.onBatch(batch, bench.claim.keepAlive);
        while (bench.ranges.length === offset) {
          bench.world.nowMs += 10;
          bench.ingest.sealIfDue(5_000);
          await bench.respondToAll();
        }
        sealedAtMs.push(bench.world.nowMs - logNowMs);
      }
      const [first = 0, second = 0, third = 0, fourth = 0] = sealedAtMs;
      // The clock advances by some ten milliseconds.
      const about = [first, third - second, fourth - third].map((ms) => Math.round(ms / 20) * 20);
      expect(about).toEqual([1_000, 5_000, 5_000]);
      phases.push(second - first);
    }
    expect(Math.round((phases[0] ?? 0) / 20) * 20).toBe(5_000);
    phases.sort((a, b) => a - b);
    const gaps = phases.map((phase, i) => phase - (phases[i - 1] ?? (phases.at(-1) ?? 0) - 5_000));
    expect(Math.min(...gaps)).toBeGreaterThan(5_000 / 8 / 2);
    expect(Math.max(...gaps)).toBeLessThan((2 * 5_000) / 8);
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
