import { expect, it } from 'vitest';
import { dayMs } from '../../src/base/time.ts';
import { readQuery } from '../../src/sink/client/read-query.ts';
import { verify } from '../../src/sink/verify.ts';
import { SeededRandom } from '../base/seeded-random.ts';
import { useStack } from '../containers/stack.ts';
import { randomLedger } from '../sink/random-ledger.ts';
import { Rig } from './kit/rig.ts';
import { storeLedger } from './kit/stored-ledger.ts';

const stack = useStack();

const partitions = 64;
const chunksPerPartition = 3_000;

/** What reads all of the ledger, and what it may read: a row a partition in each of the table's parts. */
const summaries = [
  'progress',
  'ledger_totals',
  'ledger_problems',
  'removed_records',
  'counted_twice',
  'group_begin',
] as const;
const mostRowsRead = 10_000;

/** Adds a perfect ledger: chunks of 1,000 offsets, one every 10 s, the last of them now. */
async function storePerfect(rig: Rig): Promise<void> {
  await rig.client.command({
    query: `INSERT INTO flushes
              (group_id, topic, partition, start_offset, end_offset, first_timestamp, last_timestamp, watermark,
               records, consumed, aggregated, window_min, window_max, flushed_at)
            SELECT {groupId:String}, {topic:String}, number % {partitions:UInt32} AS p,
                   intDiv(number, {partitions:UInt32}) AS n, n + 1,
                   now64(3) - 10 * ({chunks:UInt32} - n) AS at, at, at, 1, 1, 1, at, at, at
            FROM numbers({partitions:UInt32} * {chunks:UInt32})`,
    query_params: {
      ...{ groupId: rig.config.kafka.group_id, topic: rig.topic },
      ...{ partitions, chunks: chunksPerPartition },
    },
  });
}

/** The rows of a query, and how many rows ClickHouse read for them. */
async function run(rig: Rig, name: (typeof summaries)[number], useSummary: 0 | 1) {
  const result = await rig.client.query({
    query: readQuery(name),
    query_params: {
      ...{ groupId: name === 'ledger_problems' ? '' : rig.config.kafka.group_id, topic: rig.topic },
      ...{ sinceMs: 0, limit: 1_000, clusterId: '' },
    },
    clickhouse_settings: { optimize_use_projections: useSummary },
    format: 'JSON',
  });
  const { data, statistics } = await result.json<Record<string, unknown>>();
  return { data, rowsRead: statistics?.rows_read ?? Number.NaN };
}

it('The summary of the ledger gives what all rows give, of a row a partition and part', async () => {
  const rig = await Rig.open({ stack, name: 'ledger_summary' });
  try {
    await storePerfect(rig);
    for (const name of summaries) {
      const [bySummary, byRows] = [await run(rig, name, 1), await run(rig, name, 0)];
      expect([name, bySummary.data]).toEqual([name, byRows.data]);
      expect(bySummary.rowsRead).toBeLessThanOrEqual(mostRowsRead);
      expect(byRows.rowsRead).toBeGreaterThanOrEqual(partitions * chunksPerPartition);
    }
    const { retention } = rig.config.clickhouse;
    const verified = await verify(rig.client, {
      retention,
      nowMs: () => Date.now(),
      sleep: () => Promise.resolve(),
    });
    expect(verified.totals.consumed).toBe(partitions * chunksPerPartition);

    // Ledgers with every kind of fault, in parts of their own. Perfect partitions are passed over.
    const random = new SeededRandom(11);
    for (let n = 0; n < 40; n++) {
      await storeLedger(rig, randomLedger(random, `faulty${n}`), Date.now() - dayMs);
    }
    for (const name of summaries) {
      const [bySummary, byRows] = [await run(rig, name, 1), await run(rig, name, 0)];
      expect([name, bySummary.data]).toEqual([name, byRows.data]);
    }
    const { data, rowsRead } = await run(rig, 'ledger_problems', 1);
    expect(data.length).toBeGreaterThan(100);
    expect(rowsRead).toBeLessThan(partitions * chunksPerPartition);
  } finally {
    await rig.close();
  }
});
