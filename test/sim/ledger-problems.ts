import { mayStandAgain, mustBeMissing } from './allowances.ts';
import type { OracleInput } from './oracle.ts';
import type { PartitionLog } from './partition-log.ts';
import { removalProblems } from './removal-problems.ts';
import { isOfCluster, isOfLog, type StoredLedgerRow } from './sim-clickhouse.ts';
import type { FleetGroup } from './sim-fleet.ts';
import { WRONG_CLOCK_MS } from './sim-world.ts';
import type { Truth, TruthRecord } from './truth.ts';

/**
 * Compares the ledger with the written records. Per log its ranges tile, every record that must be stored
 * lies in one of them, and each row describes its records truly. What retention removed unstored lies in one
 * too: `verify` names it by that.
 */
export function ledgerProblems(
  { kafka, group, database }: FleetGroup,
  { truth, faults }: OracleInput,
  sure: ReadonlySet<TruthRecord>,
): string[] {
  const problems: string[] = [];
  const clockErrorMs = faults.has('clock_wrong') ? WRONG_CLOCK_MS : 0;
  const logs = kafka.everyLog;
  const rowsOf = new Map<PartitionLog, StoredLedgerRow[]>();
  const seen = new Map<string, StoredLedgerRow>();
  for (const row of database.ledger.filter((each) => isOfCluster(each, kafka.clusterId))) {
    if (row.group_id !== group.groupId) problems.push(`a ledger row of group ${row.group_id}`);
    const key = [row.partition, row.log_id, row.start_offset, row.end_offset].join('/');
    const before = seen.get(key);
    seen.set(key, row);
    if (before !== undefined && mayStandAgain(row, before, database)) continue;
    const log = logOf(row, logs);
    if (log === undefined) problems.push(`${show(row)}: there is no such log`);
    else rowsOf.set(log, [...(rowsOf.get(log) ?? []), row]);
  }
  const forgotten = truth.repeatable.get(group.groupId) ?? new Set<TruthRecord>();
  for (const log of logs) {
    const rows = rowsWithin(log, rowsOf);
    problems.push(
      ...tilingProblems(
        rows,
        truth.of(log),
        (record) => {
          if (sure.has(record)) return true;
          if (truth.removed.get(record) !== 'retention' || forgotten.has(record)) return false;
          const begin = group.begins.get(log);
          const isThere = kafka.logOf(log.topic, log.partition)?.sharedWith(log) !== undefined;
          return (
            isThere &&
            begin !== undefined &&
            record.offset >= begin &&
            !mustBeMissing(record, faults)
          );
        },
        forgotten,
      ),
      ...gapProblems(rows, log, truth, forgotten),
      ...watermarkProblems(rowsOf.get(log) ?? [], truth, log, sure, clockErrorMs),
    );
    for (const row of rowsOf.get(log) ?? []) {
      problems.push(
        ...rowProblems(row, truth.readable(log), sure),
        ...removalProblems(row, log, { group, truth, faults, forgotten }),
      );
    }
  }
  return problems;
}

/** The log of a row. Truncated logs have the same offsets under other leaders. */
export function logOf(
  row: StoredLedgerRow,
  logs: readonly PartitionLog[],
): PartitionLog | undefined {
  const { partition, leader_epoch, end_offset } = row;
  const all = logs.filter((log) => log.partition === partition && isOfLog(row, log.logId));
  // Of a range whose records are gone unread, with their topic or without, the leader is not known.
  if (leader_epoch < 0) {
    return all.find(({ low }) => low >= end_offset) ?? all.findLast(({ isDeleted }) => isDeleted);
  }
  return all.findLast(({ firstEpoch }) => firstEpoch <= leader_epoch);
}

/** Rows of a log, and those of the logs after it as far as they hold its records. */
function rowsWithin(
  log: PartitionLog,
  rowsOf: ReadonlyMap<PartitionLog, readonly StoredLedgerRow[]>,
): StoredLedgerRow[] {
  const rows = [...(rowsOf.get(log) ?? [])];
  for (const next of rowsOf.keys()) {
    const at = next.sharedWith(log);
    if (next === log || at === undefined) continue;
    for (const row of rowsOf.get(next) ?? []) {
      if (row.start_offset < at) rows.push({ ...row, end_offset: Math.min(row.end_offset, at) });
    }
  }
  return rows.sort((a, b) => a.start_offset - b.start_offset || a.end_offset - b.end_offset);
}

function tilingProblems(
  rows: readonly StoredLedgerRow[],
  records: readonly TruthRecord[],
  mustBeIn: (record: TruthRecord) => boolean,
  forgotten: ReadonlySet<TruthRecord>,
): string[] {
  const problems: string[] = [];
  rows.forEach((row, i) => {
    const before = rows[i - 1];
    if (row.end_offset <= row.start_offset) problems.push(`${show(row)}: an empty range`);
    if (before === undefined || row.start_offset >= before.end_offset) return;
    const inBoth = records.filter(
      ({ offset }) => offset >= row.start_offset && offset < before.end_offset,
    );
    if (inBoth.length === 0 || !inBoth.every((record) => forgotten.has(record))) {
      problems.push(`${show(row)} overlaps ${show(before)}`);
    }
  });
  let at = 0;
  for (const record of records) {
    while (at < rows.length && (rows[at] as StoredLedgerRow).end_offset <= record.offset) at++;
    const row = rows[at];
    if (row !== undefined && row.start_offset <= record.offset) continue;
    if (!mustBeIn(record)) continue;
    const { topic, partition } = record.log;
    problems.push(`${topic}/${partition} offset ${record.offset} is in no ledger row`);
  }
  return problems;
}

/** A range starts where the one before it ends. The exception are unknowable offsets between the two (allowance 4). */
function gapProblems(
  rows: readonly StoredLedgerRow[],
  log: PartitionLog,
  truth: Truth,
  forgotten: ReadonlySet<TruthRecord>,
): string[] {
  return rows.flatMap((row, i) => {
    const before = rows[i - 1];
    if (before === undefined || row.start_offset <= before.end_offset) return [];
    const isForgotten = truth
      .of(log)
      .filter(({ offset }) => offset >= before.end_offset && offset < row.start_offset)
      .some((record) => forgotten.has(record));
    return isForgotten ? [] : [`${show(row)}: a gap behind ${show(before)}`];
  });
}

/**
 * The watermark is the latest completion of a request up to the end of the range. It does not go back where
 * records were lost. The clock at sealing limits it, so a slow one may leave it as far behind.
 */
function watermarkProblems(
  rows: readonly StoredLedgerRow[],
  truth: Truth,
  log: PartitionLog,
  sure: ReadonlySet<TruthRecord>,
  clockErrorMs: number,
): string[] {
  return rows.flatMap((row) => {
    let least = 0;
    let most = 0;
    for (const record of truth.everOf(log)) {
      if (record.log === log && record.offset >= row.end_offset) break;
      for (const { endMs, fate } of record.events) {
        if (fate === 'counted') most = Math.max(most, endMs);
        // Where it is counted, the watermark goes up to the clock, for any clock.
        if (fate === 'edge') most = Number.POSITIVE_INFINITY;
        if (fate === 'counted' && sure.has(record)) least = Math.max(least, endMs);
      }
    }
    const { watermark_ms: found } = row;
    if (found >= least - clockErrorMs && found <= most) return [];
    return [`${show(row)}: a watermark of ${found} instead of ${least}`];
  });
}

function rowProblems(
  row: StoredLedgerRow,
  records: readonly TruthRecord[],
  sure: ReadonlySet<TruthRecord>,
): string[] {
  const { consumed, aggregated, rejected, late, overflow, unmapped } = row;
  const accounted = aggregated + rejected + late + overflow + unmapped;
  const problems: string[] = [];
  if (consumed !== accounted) {
    problems.push(`${show(row)}: ${consumed} consumed, ${accounted} accounted for`);
  }
  const within = records.filter(
    ({ offset }) => offset >= row.start_offset && offset < row.end_offset,
  );
  const most = figuresOf(within, true);
  const least = figuresOf(
    within.filter((record) => sure.has(record)),
    false,
  );
  const found = {
    records: row.records,
    consumed,
    counted: aggregated + overflow,
    rejected,
    late,
    samples: row.samples,
  };
  for (const name of Object.keys(found) as (keyof typeof found)[]) {
    if (found[name] < least[name] || found[name] > most[name]) {
      problems.push(`${show(row)}: ${found[name]} ${name} instead of ${least[name]}`);
    }
  }
  return problems;
}

/** An event at the edge may be counted or rejected, so it is in the largest figures and not in the least. */
function figuresOf(records: readonly TruthRecord[], isMost: boolean) {
  const figures = {
    records: records.length,
    consumed: 0,
    counted: 0,
    rejected: 0,
    late: 0,
    samples: 0,
  };
  for (const { events } of records) {
    figures.consumed += Math.max(1, events.length);
    if (events.length === 0) figures.rejected++;
    for (const { fate, stages } of events) {
      const isEdge = fate === 'edge' && isMost;
      if (fate === 'counted' || isEdge) {
        figures.counted++;
        figures.samples += stages.length;
      }
      if (fate === 'late') figures.late++;
      if (fate === 'future' || isEdge) figures.rejected++;
    }
  }
  return figures;
}

export function show({ topic, partition, start_offset, end_offset }: StoredLedgerRow): string {
  return `ledger ${topic}/${partition} [${start_offset}, ${end_offset})`;
}
