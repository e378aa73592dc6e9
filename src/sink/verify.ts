import type { ClickHouseClient } from '@clickhouse/client';
import type { Config } from '../config/schema.ts';
import {
  checkLedger,
  type LedgerProblem,
  type LedgerRow,
  type PartitionLedger,
} from './ledger-check.ts';
import { readQuery } from './read-query.ts';

/** A comparison that `verify` made. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

export interface Verification {
  readonly ok: boolean;
  readonly totals: {
    readonly consumed: number;
    readonly aggregated: number;
    readonly rejected: number;
    readonly late: number;
    readonly overflow: number;
    readonly samples: number;
  };
  readonly checks: readonly Check[];
  readonly problems: readonly LedgerProblem[];
  readonly partitions: readonly PartitionLedger[];
}

export interface VerifyOptions {
  readonly retention: Config['clickhouse']['retention'];
  readonly nowMs: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

type StoredLedgerRow = LedgerRow & {
  readonly window_min_seconds: number;
  readonly flushed_ms: number;
};

const ATTEMPTS = 8;
const BETWEEN_ATTEMPTS_MS = 500;
const DAY_MS = 86_400_000;

/**
 * Holds the ledger against itself and against the tables: ranges tile, every event is accounted
 * for, and each table has exactly the samples that the ledger says, no more and no fewer.
 *
 * While chunks are being stored the queries see different moments, so what does not hold at first
 * is looked at again; what is wrong stays wrong.
 */
export async function verify(
  client: ClickHouseClient,
  options: VerifyOptions,
): Promise<Verification> {
  for (let attempt = 1; ; attempt++) {
    const verification = await verifyOnce(client, options);
    if (verification.ok || attempt === ATTEMPTS) return verification;
    await options.sleep(BETWEEN_ATTEMPTS_MS);
  }
}

async function verifyOnce(client: ClickHouseClient, options: VerifyOptions): Promise<Verification> {
  const rows = await ledgerRows(client);
  const { partitions, problems } = checkLedger(rows);
  const sum = (key: 'consumed' | 'aggregated' | 'rejected' | 'late' | 'overflow' | 'samples') =>
    rows.reduce((total, row) => total + row[key], 0);
  const totals = {
    consumed: sum('consumed'),
    aggregated: sum('aggregated'),
    rejected: sum('rejected'),
    late: sum('late'),
    overflow: sum('overflow'),
    samples: sum('samples'),
  };
  const tiles = problems.filter(({ kind }) => kind !== 'conservation');
  const unaccounted = problems.filter(({ kind }) => kind === 'conservation');
  const checks: Check[] = [
    {
      name: 'ranges tile',
      ok: tiles.length === 0,
      detail: `${rows.length} chunks of ${partitions.length} partitions, ${tiles.length} problems`,
    },
    {
      name: 'every event is accounted for',
      ok: unaccounted.length === 0,
      detail: `${totals.consumed} consumed = ${totals.aggregated} aggregated + ${totals.rejected} rejected + ${totals.late} late + ${totals.overflow} overflow`,
    },
    ...(await tableChecks(client, rows, totals.samples, options)),
  ];
  return { ok: checks.every(({ ok }) => ok), totals, checks, problems, partitions };
}

/** Ledger against tables, and tables against each other on the days that all of them still hold. */
async function tableChecks(
  client: ClickHouseClient,
  rows: readonly StoredLedgerRow[],
  samples: number,
  options: VerifyOptions,
): Promise<Check[]> {
  const { retention } = options;
  const nowMs = options.nowMs();
  const days = await query<
    Record<'in_10s' | 'in_1m' | 'in_1h' | 'in_1d', string> & { day: string }
  >(client, 'samples_by_day');
  const inFlight = Number(
    (await query<{ samples: string }>(client, 'chunks_in_flight'))[0]?.samples ?? 0,
  );
  const finest = Math.min(
    retention.latency_10s,
    retention.latency_1m,
    retention.latency_1h,
    retention.latency_1d,
  );
  const unequal = days.filter(
    (day) =>
      Date.parse(day.day) > nowMs - finest + DAY_MS &&
      !(day.in_10s === day.in_1m && day.in_1m === day.in_1h && day.in_1h === day.in_1d),
  );
  const stored = days.reduce((total, day) => total + Number(day.in_1d), 0);
  const oldestMs = Math.min(
    ...rows.filter((row) => row.samples > 0).map((row) => row.window_min_seconds * 1000),
  );
  const firstFlushMs = Math.min(...rows.map((row) => row.flushed_ms));
  const expired =
    oldestMs < nowMs - retention.latency_1d + DAY_MS ||
    firstFlushMs < nowMs - retention.flushes + DAY_MS;
  return [
    {
      name: 'tables hold what the ledger says',
      ok: expired || stored === samples + inFlight,
      detail: expired
        ? 'not compared: what is oldest is past clickhouse.retention.latency_1d or flushes'
        : `${stored} samples stored, ${samples} in the ledger, ${inFlight} in flight`,
    },
    {
      name: 'every resolution holds the same',
      ok: unequal.length === 0,
      detail:
        unequal.length === 0
          ? `${days.length} days compared over 10 s, 1 min, 1 h and 1 day`
          : unequal
              .map(
                (day) => `${day.day}: ${day.in_10s} / ${day.in_1m} / ${day.in_1h} / ${day.in_1d}`,
              )
              .join('; '),
    },
  ];
}

async function ledgerRows(client: ClickHouseClient): Promise<StoredLedgerRow[]> {
  const raw = await query<Record<string, string | number>>(client, 'ledger', {
    groupId: '',
    topic: '',
  });
  return raw.map((row) => {
    const number = (key: string) => Number(row[key]);
    return {
      group_id: String(row.group_id),
      topic: String(row.topic),
      partition: number('partition'),
      start_offset: number('start_offset'),
      end_offset: number('end_offset'),
      first_ms: number('first_ms'),
      last_ms: number('last_ms'),
      records: number('records'),
      consumed: number('consumed'),
      aggregated: number('aggregated'),
      rejected: number('rejected'),
      late: number('late'),
      overflow: number('overflow'),
      samples: number('samples'),
      window_min_seconds: number('window_min_seconds'),
      flushed_ms: number('flushed_ms'),
    };
  });
}

async function query<T>(
  client: ClickHouseClient,
  name: string,
  params: Record<string, unknown> = {},
): Promise<T[]> {
  const result = await client.query({
    query: readQuery(name),
    query_params: params,
    format: 'JSONEachRow',
  });
  return result.json<T>();
}
