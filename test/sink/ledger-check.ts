import {
  type LedgerProblem,
  ledgerProblem,
  type ProblemFacts,
} from '../../src/sink/ledger-problems.ts';
import type { PartitionLedger } from '../../src/sink/verify.ts';

/** A ledger row, as sql/queries/ledger.sql gives it. */
export interface LedgerRow {
  readonly group_id: string;
  readonly topic: string;
  readonly partition: number;
  readonly log_id: string;
  readonly start_offset: number;
  readonly end_offset: number;
  /** Timestamps of the first and last record, milliseconds. */
  readonly first_ms: number;
  readonly last_ms: number;
  readonly records: number;
  readonly consumed: number;
  readonly aggregated: number;
  readonly rejected: number;
  readonly late: number;
  readonly overflow: number;
  readonly unmapped: number;
  readonly samples: number;
  readonly removed_events?: number;
  readonly removed_offsets?: number;
}

/**
 * Checks a ledger in memory. Per group, topic, partition and log the ranges must tile. In every row, consumed =
 * aggregated + rejected + late + overflow + unmapped. Only offsets count, not the order of storing.
 *
 * sql/queries/ledger_problems.sql checks the stored ledger by the same rules; a test holds them together.
 *
 * @param rows in the order in which they were stored, partition by partition. O(rows log rows).
 */
export function checkLedger(rows: readonly LedgerRow[]): {
  readonly partitions: readonly PartitionLedger[];
  readonly problems: readonly LedgerProblem[];
} {
  const partitions: PartitionLedger[] = [];
  const problems: LedgerProblem[] = [];
  for (const group of groupsOf(rows)) {
    problems.push(...group.flatMap(rowProblems), ...tilingProblems(group));
    const first = group[0];
    if (first === undefined) continue;
    partitions.push({
      group_id: first.group_id,
      topic: first.topic,
      partition: first.partition,
      log_id: first.log_id,
      chunks: group.length,
      from_offset: group.reduce((least, row) => Math.min(least, row.start_offset), Infinity),
      to_offset: group.reduce((most, row) => Math.max(most, row.end_offset), 0),
      consumed: group.reduce((sum, row) => sum + row.consumed, 0),
    });
  }
  return { partitions, problems };
}

function groupsOf(rows: readonly LedgerRow[]): LedgerRow[][] {
  const groups = new Map<string, LedgerRow[]>();
  for (const row of rows) {
    const key = JSON.stringify([row.group_id, row.topic, row.partition, row.log_id]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return [...groups.values()];
}

function rowProblems(row: LedgerRow): LedgerProblem[] {
  const problems: LedgerProblem[] = [];
  const had = row.aggregated + row.rejected + row.late + row.overflow + row.unmapped;
  if (had !== row.consumed) {
    const amount = Math.abs(row.consumed - had);
    problems.push(problem('conservation', row, { amount, due: row.consumed, had }));
  }
  if (row.end_offset <= row.start_offset) {
    problems.push(problem('empty_range', row, { amount: row.start_offset - row.end_offset }));
  }
  return problems;
}

function tilingProblems(rows: readonly LedgerRow[]): LedgerProblem[] {
  const problems: LedgerProblem[] = [];
  const [first, ...others] = rows
    .filter((row) => row.end_offset > row.start_offset)
    .sort((a, b) => a.start_offset - b.start_offset || a.end_offset - b.end_offset);
  // The chunk that reaches furthest so far.
  let furthest = first;
  for (const row of others) {
    if (furthest === undefined) continue;
    const { start_offset: start, end_offset: end } = row;
    const reached = furthest.end_offset;
    if (start !== reached) {
      const from_offset = Math.min(start, reached);
      const to_offset = Math.max(start, Math.min(end, reached));
      const range = { from_offset, to_offset, amount: to_offset - from_offset };
      problems.push(problem(start > reached ? 'gap' : 'overlap', row, range, furthest));
    }
    if (end > reached || (end === reached && start > furthest.start_offset)) furthest = row;
  }
  return problems;
}

function problem(
  kind: LedgerProblem['kind'],
  row: LedgerRow,
  facts: Partial<ProblemFacts>,
  other?: LedgerRow,
): LedgerProblem {
  const { group_id, topic, partition, log_id, start_offset, end_offset } = row;
  return ledgerProblem({
    ...{ kind, group_id, topic, partition, log_id, start_offset, end_offset },
    ...{ from_offset: start_offset, to_offset: end_offset, amount: 0, due: 0, had: 0 },
    other_start_offset: other?.start_offset ?? 0,
    other_end_offset: other?.end_offset ?? 0,
    other_group_id: '',
    ...facts,
  });
}
