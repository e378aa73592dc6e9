/** A ledger row, as sql/queries/ledger.sql gives it. */
export interface LedgerRow {
  readonly group_id: string;
  readonly topic: string;
  readonly partition: number;
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
  readonly samples: number;
}

/** What the ledger says of one partition. */
export interface PartitionLedger {
  readonly group_id: string;
  readonly topic: string;
  readonly partition: number;
  readonly chunks: number;
  readonly from_offset: number;
  readonly to_offset: number;
  readonly consumed: number;
}

/** Something the ledger gets wrong. */
export interface LedgerProblem {
  readonly kind: 'gap' | 'overlap' | 'conservation' | 'empty_range';
  readonly group_id: string;
  readonly topic: string;
  readonly partition: number;
  readonly start_offset: number;
  readonly detail: string;
}

/**
 * Checks the ledger by itself: per group, topic and partition the ranges must tile, and in every
 * row consumed = aggregated + rejected + late + overflow. A topic made anew starts over: a range
 * that begins lower, and all of whose records are newer, opens a new tiling.
 *
 * @param rows in the order in which they were stored, partition by partition. O(rows).
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
      chunks: group.length,
      from_offset: Math.min(...group.map((row) => row.start_offset)),
      to_offset: Math.max(...group.map((row) => row.end_offset)),
      consumed: group.reduce((sum, row) => sum + row.consumed, 0),
    });
  }
  return { partitions, problems };
}

function groupsOf(rows: readonly LedgerRow[]): LedgerRow[][] {
  const groups = new Map<string, LedgerRow[]>();
  for (const row of rows) {
    const key = JSON.stringify([row.group_id, row.topic, row.partition]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return [...groups.values()];
}

function rowProblems(row: LedgerRow): LedgerProblem[] {
  const problems: LedgerProblem[] = [];
  const accounted = row.aggregated + row.rejected + row.late + row.overflow;
  if (accounted !== row.consumed) {
    const detail = `consumed ${row.consumed}, accounted for ${accounted}`;
    problems.push(problem('conservation', row, detail));
  }
  if (row.end_offset <= row.start_offset) {
    problems.push(problem('empty_range', row, `ends at ${row.end_offset}`));
  }
  return problems;
}

function tilingProblems(rows: readonly LedgerRow[]): LedgerProblem[] {
  const problems: LedgerProblem[] = [];
  let previous: LedgerRow | undefined;
  for (const row of rows) {
    if (previous !== undefined && row.start_offset !== previous.end_offset) {
      const startsOver = row.start_offset < previous.end_offset && row.first_ms > previous.last_ms;
      const kind = row.start_offset > previous.end_offset ? 'gap' : 'overlap';
      const detail = `starts at ${row.start_offset}, the one before ended at ${previous.end_offset}`;
      if (!startsOver) problems.push(problem(kind, row, detail));
    }
    previous = row;
  }
  return problems;
}

function problem(kind: LedgerProblem['kind'], row: LedgerRow, detail: string): LedgerProblem {
  const { group_id, topic, partition, start_offset } = row;
  return { kind, group_id, topic, partition, start_offset, detail };
}
