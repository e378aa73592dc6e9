import { describe, expect, it } from 'vitest';
import { hourMs } from '../../src/base/time.ts';
import { FakeBench, recordAt } from './fake-bench.ts';
import { FakeBroker } from './fake-broker.ts';
import { logNowMs } from './fake-log.ts';

describe('the clock of a chunk', () => {
  const handle = async (bench: FakeBench, offset: number, hold: readonly string[] = []) => {
    const batch = bench.broker.batch(offset, 1);
    if (batch === undefined) throw new Error('no batch');
    const handled = bench.ingest.onBatch(batch, bench.claim.keepAlive);
    await bench.respondToAll(hold, 60);
    return handled;
  };

  it('is that of its first record, however long none came', async () => {
    const bench = new FakeBench(new FakeBroker([recordAt(0, logNowMs + hourMs)], 1));
    bench.world.nowMs = logNowMs + hourMs;
    bench.ingest.sealIfDue(5_000);
    await handle(bench, 0);
    await Promise.all([bench.ingest.drain(), bench.respondToAll()]);
    expect(bench.store.ledger).toMatchObject([{ aggregated: 1, rejected: 0 }]);
  });

  it('is not that of an hour ago where ClickHouse was away as long', async () => {
    const later = logNowMs + hourMs;
    const records = [recordAt(0), recordAt(1), recordAt(2, later), recordAt(3, later + 300_000)];
    const bench = new FakeBench(new FakeBroker(records, 4));
    await handle(bench, 0);
    bench.ingest.seal();
    await handle(bench, 1, ['insert']);
    bench.world.nowMs = later;
    await handle(bench, 2);
    await handle(bench, 3);
    await Promise.all([bench.ingest.drain(), bench.respondToAll()]);
    expect(bench.ranges).toEqual([
      [0, 1],
      [1, 2],
      [2, 4],
    ]);
    expect(bench.store.ledger).toMatchObject([
      { aggregated: 1 },
      { aggregated: 1 },
      { aggregated: 2, rejected: 0 },
    ]);
  });

  it('may be set back: the next chunk uses the right one', async () => {
    const records = [recordAt(0), recordAt(1, logNowMs - hourMs + 600_000)];
    const bench = new FakeBench(new FakeBroker(records, 2));
    await handle(bench, 0);
    bench.world.nowMs = logNowMs - hourMs;
    await handle(bench, 1);
    await Promise.all([bench.ingest.drain(), bench.respondToAll()]);
    expect(bench.store.ledger).toMatchObject([{ aggregated: 1 }, { aggregated: 0, rejected: 1 }]);
  });
});
