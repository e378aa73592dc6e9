import { expect, it } from 'vitest';
import { createMetrics } from '../../src/base/telemetry/metrics.ts';
import { useStack } from '../containers/stack.ts';
import { benchMessages } from './kit/bench-messages.ts';
import { poll } from './kit/poll.ts';
import { Rig } from './kit/rig.ts';

const stack = useStack();
const eventsPerChunk = 100;

interface Gauges {
  readonly gap: number;
  readonly overlap: number;
  readonly unaccounted: number;
  readonly difference: number;
  readonly checkedSeconds: number;
}

it('a running ingester shows a loss and a gap as metrics, and logs the place once; a chunk in flight is neither', async () => {
  const settings = {
    INGEST_VERIFY_INTERVAL: '1s',
    INGEST_FLUSH_MAX_EVENTS: String(eventsPerChunk),
    INGEST_FLUSH_INTERVAL: '60s',
  };
  const rig = await Rig.open({ stack, name: 'ledger_watch', partitions: 2, settings });
  const metrics = createMetrics();
  const read = async (): Promise<Gauges> => {
    const [gap, overlap, unaccounted, difference, checkedSeconds] = await Promise.all(
      [
        metrics.ledgerGapOffsets,
        metrics.ledgerOverlapOffsets,
        metrics.ledgerUnaccountedEvents,
        metrics.ledgerSampleDifference,
        metrics.ledgerCheckedSeconds,
      ].map(async (gauge) => (await gauge.get()).values[0]?.value ?? Number.NaN),
    );
    return { gap, overlap, unaccounted, difference, checkedSeconds } as Gauges;
  };
  /** Gauges after so many checks from now on. */
  const afterLooks = async (count: number): Promise<Gauges> => {
    let last = (await read()).checkedSeconds;
    let looks = -1; // The one that may be under way started before.
    await poll(`${count} looks`, async () => {
      const { checkedSeconds } = await read();
      if (checkedSeconds > last) looks++;
      last = checkedSeconds;
      return looks >= count ? true : undefined;
    });
    // A page is made gauge by gauge: after a new check, some gauges may still be older.
    return read();
  };
  const meddle = (query: string, params: Record<string, unknown>) =>
    rig.client.command({
      query,
      query_params: params,
      clickhouse_settings: {
        lightweight_deletes_sync: '2',
        mutations_sync: '2',
        insert_deduplicate: 0,
      },
    });
  try {
    const { messages } = benchMessages('ledger_watch', 12 * eventsPerChunk, 1);
    await rig.publish(messages.map((value, n) => ({ value, partition: n % 2 })));
    await rig.start(['ingest'], rig.config, metrics);
    await rig.untilConsumed(messages.length);

    // As after a process that died after its insert: rows at the ledger's end.
    await meddle(
      `INSERT INTO chunk_rows
         (kind, window_start, model, stage, requests, group_id, topic, partition, log_mark, start_offset)
       SELECT 'stage', window_max, 'm', 'forward', samples, group_id, topic, partition, log_mark, 600
       FROM flushes WHERE partition = 0 AND start_offset = 500`,
      {},
    );
    const noProblems = { gap: 0, overlap: 0, unaccounted: 0, difference: 0 };
    expect(await afterLooks(3)).toMatchObject(noProblems);
    expect(rig.logLines.join('\n')).not.toContain('ledger problem: ');

    const [lost] = await rig.rows<{ samples: string; end: string }>(
      `SELECT samples, end_offset AS end FROM flushes WHERE partition = 1 AND start_offset = 300`,
    );
    await meddle('DELETE FROM chunk_landings WHERE partition = 1 AND start_offset = 300', {});
    await meddle('ALTER TABLE flushes DELETE WHERE partition = 0 AND start_offset = 200', {});
    // Within a second of the ledger's end it may still be in flight.
    await meddle(
      `ALTER TABLE chunk_landings UPDATE inserted_at = inserted_at - 10
       WHERE partition = 0 AND start_offset = 200`,
      {},
    );
    const samples = Number(lost?.samples);
    expect(samples).toBeGreaterThan(eventsPerChunk);
    const found = await afterLooks(2);
    const [passed] = await rig.rows<{ n: string }>(
      `SELECT sum(samples) AS n FROM chunk_landings WHERE partition = 0 AND start_offset = 200`,
    );
    // The chunk without a ledger row is a gap, and its rows are stored unrecorded.
    expect(found).toMatchObject({
      ...noProblems,
      gap: 100,
      difference: samples + Number(passed?.n),
    });
    await afterLooks(2);
    const logged = rig.logLines
      .filter((line) => line.includes('ledger problem: '))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(logged.map(({ kind }) => kind).sort()).toEqual(['gap', 'loss', 'unrecorded']);
    const of = (kind: string) => logged.find((line) => line.kind === kind);
    expect(of('gap')).toMatchObject({ partition: 0, from_offset: 200, to_offset: 300 });
    const range = { from_offset: 300, to_offset: Number(lost?.end) };
    expect(of('loss')).toMatchObject({ partition: 1, ...range, amount: samples });
    expect(await rig.cli(['verify', '--json'])).toMatchObject({ exitCode: 2 });
  } catch (error) {
    process.stderr.write(`${rig.tail()}\n`);
    throw error;
  } finally {
    await rig.close();
  }
});
