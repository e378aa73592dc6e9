import type { ClickHouseClient } from '@clickhouse/client';
import type { Clock } from '../base/clock.ts';
import { dayMs, hourMs } from '../base/time.ts';
import type { Config } from '../config/schema.ts';
import { clusterOf, firstIdOf } from '../source/log-id.ts';
import { readRows } from './client/read-query.ts';
import {
  type FoundProblems,
  type LedgerProblem,
  type LedgerProblemKind,
  type Removed,
  readProblems,
  removedText,
} from './ledger-problems.ts';
import { liveLeases } from './migrate/lease.ts';
import { objectsOfSchema } from './migrate/migrate.ts';
import { missingNow, namesOf, type SchemaObject } from './migrate/schema-objects.ts';

export interface PartitionLedger {
  readonly group_id: string;
  readonly topic: string;
  readonly partition: number;
  /** Log of the partition (source/log-id.ts): a recreated or truncated one is another. */
  readonly log_id: string;
  readonly chunks: number;
  readonly from_offset: number;
  readonly to_offset: number;
  readonly consumed: number;
}

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** A table whose samples of a day differ from those of the 10-second windows, which fill it. */
export interface UnequalDay {
  /** `2026-11-20`. */
  readonly day: string;
  readonly table: string;
  /** Samples: all, or the censored ones among them. */
  readonly of: 'samples' | 'censored samples';
  /** Surplus of them; negative if some are missing. */
  readonly difference: number;
}

/** Columns of the ledger that are summed. */
const totalled = [
  'consumed',
  'aggregated',
  'rejected',
  'late',
  'overflow',
  'unmapped',
  'weight',
  'samples',
] as const;

export interface Verification {
  /** Every check passes, and there is something to check. */
  readonly ok: boolean;
  /** Nothing is stored: a new database, or a wrong one. */
  readonly empty: boolean;
  readonly totals: Readonly<Record<(typeof totalled)[number], number>>;
  /** Aggregated and overflowed events that arrived after their window could be evaluated. */
  readonly late_merged: number;
  /** Records that Kafka removed unstored: events that a chunk had counted, and offsets nobody had read. */
  readonly removed: Removed;
  /** Logs that were deleted with their topic: what nobody had read of them is not known. */
  readonly deleted_logs: number;
  /** Processes that store events now. Without any, nobody sees what Kafka removes. */
  readonly ingesters: number;
  readonly checks: readonly Check[];
  /** The first ones of each kind, at most 100 in all. */
  readonly problems: readonly LedgerProblem[];
  /** Number of all problems, listed or not. */
  readonly problem_count: number;
  readonly unequal_days: readonly UnequalDay[];
  readonly partitions: readonly PartitionLedger[];
}

export interface VerifyOptions extends Pick<Clock, 'nowMs' | 'sleep'> {
  readonly retention: Config['clickhouse']['retention'];
  /** Attempts until a problem is real; one is enough while nothing is stored. @default {8} */
  readonly attempts?: number;
}

/** The only check that fails where everything that could be read is stored once. */
export const REMOVED_CHECK = 'no record was removed before it was stored';
const ATTEMPTS = 8;
const BETWEEN_ATTEMPTS_MS = 500;
const PROBLEMS_LISTED = 100;

/**
 * Compares the ledger with itself and with the tables. Ranges must tile, and every event must be accounted
 * for. Each chunk and each table must have exactly the recorded rows and samples. ClickHouse compares, so the
 * result grows with partitions and days, not with chunks.
 *
 * While chunks are being stored, queries see different moments. So a check that fails is repeated; a real
 * problem remains.
 */
export async function verify(
  client: ClickHouseClient,
  options: VerifyOptions,
): Promise<Verification> {
  const missing = await missingNow(client, objectsOfSchema());
  for (let attempt = 1; ; attempt++) {
    const isLast = attempt === (options.attempts ?? ATTEMPTS);
    const verification = await verifyOnce(client, options, missing, isLast);
    if (isSettled(verification) || verification.empty || isLast) return verification;
    await options.sleep(BETWEEN_ATTEMPTS_MS);
  }
}

/** True where no further attempt could find anything else: what was removed does not come back. */
function isSettled({ checks }: Verification): boolean {
  return checks.every(({ ok, name }) => ok || name === REMOVED_CHECK);
}

async function verifyOnce(
  client: ClickHouseClient,
  options: VerifyOptions,
  missing: readonly SchemaObject[],
  isLast: boolean,
): Promise<Verification> {
  const ledger = await readLedger(client);
  const tiling = await readProblems(client, 'ledger_problems', { groupId: '', sinceMs: 0 });
  const gone = await readProblems(client, 'removed_records', {});
  const twice = await readProblems(client, 'counted_twice', {});
  const chunks = await readProblems(client, 'chunk_problems', chunkScope(options));
  const abandoned = await readProblems(client, 'abandoned_chunks', { groupId: '' });
  const tables = await tableChecks(client, ledger, abandoned, options, isLast);
  const { totals } = ledger;
  const untiled = countOf(tiling, ['gap', 'overlap', 'empty_range']);
  const unaccounted = countOf(tiling, ['conservation']);
  const checks: Check[] = [
    {
      name: 'every table and view is there',
      ok: missing.length === 0,
      detail: missing.length === 0 ? 'as the migrations made them' : `missing: ${namesOf(missing)}`,
    },
    {
      name: 'no gap or overlap of offsets',
      ok: untiled === 0,
      detail: `${ledger.chunkCount} chunks of ${ledger.partitions.length} logs, ${untiled} problems`,
    },
    {
      name: 'every event is accounted for',
      ok: unaccounted === 0,
      detail: `${totals.consumed} consumed = ${totals.aggregated} aggregated + ${totals.rejected} rejected + ${totals.late} late + ${totals.overflow} overflow + ${totals.unmapped} unmapped`,
    },
    removedCheck(gone),
    chunkCheck(chunks, abandoned),
    {
      name: 'no offset counted by two groups',
      ok: countOf(twice) === 0,
      detail: `${countOf(twice)} offset ranges counted by two groups`,
    },
    ...tables.checks,
  ];
  const found = [tiling, gone, twice, chunks, abandoned];
  const passes = checks.every(({ ok }) => ok);
  const empty = passes && ledger.chunkCount === 0 && tables.stored === 0;
  return {
    ok: passes && !empty,
    empty,
    totals,
    late_merged: ledger.lateMerged,
    removed: removedIn(gone),
    deleted_logs: deletedLogs(ledger.partitions),
    // A dropped table is a failed check already.
    ingesters: missing.length > 0 ? 0 : (await liveLeases(client, 'ingest')).length,
    checks,
    problems: fairShare(
      found.flatMap(({ problems }) => problems.map(({ oldestMs: _, ...problem }) => problem)),
    ),
    problem_count: found.reduce((sum, some) => sum + countOf(some), 0),
    unequal_days: tables.unequalDays,
    partitions: ledger.partitions,
  };
}

function removedIn({ kinds }: FoundProblems): Removed {
  return {
    events: kinds.get('removed')?.total ?? 0,
    offsets: kinds.get('removed_unread')?.total ?? 0,
  };
}

function removedCheck(gone: FoundProblems): Check {
  const ok = countOf(gone) === 0;
  const detail = ok
    ? 'each was stored first, or lies before the group began'
    : removedText(removedIn(gone));
  return { name: REMOVED_CHECK, ok, detail };
}

/** Logs of partitions that have another one by now, in the same cluster. */
function deletedLogs(partitions: readonly PartitionLedger[]): number {
  const logs = new Map<string, Set<string>>();
  for (const { group_id, topic, partition, log_id } of partitions) {
    const key = JSON.stringify([group_id, topic, partition, clusterOf(log_id)]);
    logs.set(key, (logs.get(key) ?? new Set()).add(firstIdOf(log_id)));
  }
  return [...logs.values()].reduce((sum, { size }) => sum + size - 1, 0);
}

function chunkCheck(...results: readonly FoundProblems[]): Check {
  const kinds = results.flatMap((result) => [...result.kinds]);
  const counts = kinds.map(([kind, { found, total }]) => {
    return `${found} of kind ${kind} (${total} samples)`;
  });
  return {
    name: 'every chunk has its rows',
    ok: counts.length === 0,
    detail: counts.join(', ') || 'in all chunks whose landing is still on record',
  };
}

/**
 * Chunks whose landing cannot have expired, with a margin on both sides: merges drop rows, and the
 * ledger row follows the rows.
 */
function chunkScope({ retention, nowMs }: VerifyOptions) {
  const slackMs = Math.min(hourMs, retention.chunk_landings / 4);
  const landedSinceMs = Math.max(0, Math.ceil(nowMs() - retention.chunk_landings + slackMs / 2));
  const sinceMs = Math.ceil(landedSinceMs + slackMs);
  return { groupId: '', sinceMs, landedSinceMs, ledgerSinceMs: 0, firstsToo: true };
}

function countOf({ kinds }: FoundProblems, of?: readonly LedgerProblemKind[]): number {
  return [...kinds]
    .filter(([kind]) => of === undefined || of.includes(kind))
    .reduce((sum, [, { found }]) => sum + found, 0);
}

/** Limits problems per kind: a thousand gaps must not hide a loss. */
function fairShare(problems: readonly LedgerProblem[]): LedgerProblem[] {
  const turns = new Map<LedgerProblemKind, number>();
  return problems
    .map((problem) => {
      const turn = turns.get(problem.kind) ?? 0;
      turns.set(problem.kind, turn + 1);
      return { problem, turn };
    })
    .toSorted((a, b) => a.turn - b.turn)
    .slice(0, PROBLEMS_LISTED)
    .map(({ problem }) => problem);
}

type Ledger = Awaited<ReturnType<typeof readLedger>>;

/** Sums over partitions. The first times are Infinity without any samples. */
async function readLedger(client: ClickHouseClient) {
  const rows = await readRows<Record<string, string | number | null>>(client, 'ledger_totals');
  const sum = (name: string) => rows.reduce((total, row) => total + Number(row[name]), 0);
  const least = (name: string) =>
    rows.reduce(
      (min, row) => (row[name] === null ? min : Math.min(min, Number(row[name]))),
      Number.POSITIVE_INFINITY,
    );
  return {
    totals: Object.fromEntries(totalled.map((name) => [name, sum(name)])) as Verification['totals'],
    lateMerged: sum('late_merged'),
    chunkCount: sum('chunks'),
    firstWindowMs: least('first_window_seconds') * 1000,
    firstFlushedMs: least('first_flushed_ms'),
    partitions: rows.map(
      (row): PartitionLedger => ({
        group_id: String(row.group_id),
        topic: String(row.topic),
        partition: Number(row.partition),
        log_id: String(row.log_id),
        chunks: Number(row.chunks),
        from_offset: Number(row.from_offset),
        to_offset: Number(row.to_offset),
        consumed: Number(row.consumed),
      }),
    ),
  };
}

/** Compares the ledger with the tables, and the tables with each other on the days that all of them have. */
async function tableChecks(
  client: ClickHouseClient,
  ledger: Ledger,
  abandoned: FoundProblems,
  options: VerifyOptions,
  isLast: boolean,
) {
  const { retention } = options;
  const nowMs = options.nowMs();
  const days = await readRows<DaySamples>(client, 'samples_by_day');
  const [pending] = await readRows<{ samples: string }>(client, 'chunks_in_flight');
  const inFlight = Number(pending?.samples ?? 0);
  const given = abandoned.kinds.get('abandoned')?.total ?? 0;
  const { latency_10s, latency_1m, latency_1h, latency_1d } = retention;
  const finest = Math.min(latency_10s, latency_1m, latency_1h, latency_1d);
  const kept = days.filter(({ day }) => Date.parse(day) > nowMs - finest + dayMs);
  const unequalDays = kept.flatMap(unequalTables);
  const stored = days.reduce((total, day) => total + Number(day.in_1d), 0);
  const { samples } = ledger.totals;
  // While chunks are being stored, sums may never be of one moment. In the last attempt the tables' sum must
  // be between the ledger's sums before and after.
  const after = isLast ? (await readLedger(client)).totals.samples : samples;
  const isBetween = stored >= samples && stored <= after + inFlight;
  const expired =
    ledger.firstWindowMs < nowMs - latency_1d + dayMs ||
    ledger.firstFlushedMs < nowMs - retention.flushes + dayMs;
  const waiting =
    given === 0 ? `${inFlight} in flight` : `${inFlight - given} in flight, ${given} abandoned`;
  const moved = after === samples ? '' : ` (${after} at the end)`;
  const checks: Check[] = [
    {
      name: 'tables match the ledger',
      ok: expired || stored === samples + inFlight || (after > samples && isBetween),
      detail: expired
        ? 'not compared: the oldest rows are past clickhouse.retention.latency_1d or flushes'
        : `${stored} samples stored, ${samples} in the ledger${moved}, ${waiting}`,
    },
    {
      name: 'all resolutions match',
      ok: unequalDays.length === 0,
      detail:
        unequalDays.map(unequalDayText).join('; ') ||
        `${kept.length} days compared over 10 s, 1 min, 1 h and 1 day`,
    },
  ];
  return { checks, unequalDays, stored };
}

type DaySamples = Record<'day' | `${'' | 'censored_'}in_${'10s' | '1m' | '1h' | '1d'}`, string>;

function unequalTables(row: DaySamples): UnequalDay[] {
  const counts = [
    { of: 'samples', prefix: '' },
    { of: 'censored samples', prefix: 'censored_' },
  ] as const;
  return (['1m', '1h', '1d'] as const)
    .flatMap((resolution) =>
      counts.map(({ of, prefix }) => ({
        ...{ day: row.day, table: `latency_${resolution}`, of },
        difference: Number(row[`${prefix}in_${resolution}`]) - Number(row[`${prefix}in_10s`]),
      })),
    )
    .filter(({ difference }) => difference !== 0);
}

function unequalDayText({ day, table, of, difference }: UnequalDay): string {
  const by = `${Math.abs(difference)} ${of} ${difference < 0 ? 'fewer' : 'more'}`;
  return `${day}: ${table} has ${by} than latency_10s`;
}
