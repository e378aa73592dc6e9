import { mustBeMissing } from './allowances.ts';
import type { FaultPlan } from './fault-plan.ts';
import { show } from './ledger-problems.ts';
import type { PartitionLog } from './partition-log.ts';
import type { StoredLedgerRow } from './sim-clickhouse.ts';
import type { SimGroup } from './sim-group.ts';
import type { Truth, TruthRecord } from './truth.ts';

interface RemovalInput {
  readonly group: SimGroup;
  readonly truth: Truth;
  readonly faults: FaultPlan;
  readonly forgotten: ReadonlySet<TruthRecord>;
}

/**
 * Compares what a row says was removed from Kafka with what its intent had counted, and with what was:
 *
 * - A chunk's events and its removed events are those that its first intent had counted.
 * - What retention has removed is counted, or named: as removed events, or by a range that nobody had read.
 * - Such a range has no record, and none that is still there.
 */
export function removalProblems(
  row: StoredLedgerRow,
  log: PartitionLog,
  { group, truth, faults, forgotten }: RemovalInput,
): string[] {
  const { topic, partition, log_id, start_offset, end_offset } = row;
  const { consumed, removed_events, removed_offsets } = row;
  const within = truth
    .readable(log)
    .filter(({ offset }) => offset >= start_offset && offset < end_offset);
  // No process knows what a chunk had held whose intent is gone.
  if (within.some((record) => forgotten.has(record))) return [];
  if (group.wasReplaced(topic, partition, start_offset)) return [];
  const problems: string[] = [];
  const say = (what: string) => problems.push(`${show(row)}: ${what}`);
  const named = consumed + removed_events;
  const chunk = `${topic}/${partition}/${log_id}/${start_offset}-${end_offset}`;
  const promised = group.promises.get(chunk);
  if (promised === undefined) say('no intent was committed');
  else if (named !== promised) {
    say(`${consumed} consumed and ${removed_events} removed of ${promised} that were promised`);
  }
  if (removed_offsets > 0 && row.records === 0 && promised === 0) {
    if (removed_offsets !== end_offset - start_offset) {
      say(`${removed_offsets} offsets are removed`);
    }
    const left = within.filter((record) => !truth.removed.has(record));
    if (left.length > 0) say(`${left.length} records are called removed and are there`);
    return problems;
  }
  const compacted = within.filter((record) => truth.removed.get(record) === 'compaction').length;
  if (removed_offsets > compacted) {
    say(`${removed_offsets} offsets are removed, ${compacted} were compacted away`);
  }
  // What a response holds beside aborted transactions alone is passed over by the client in silence.
  const isClear =
    !faults.has('aborted_transactions') && !faults.has('start_from_latest') && removed_events === 0;
  // What was gone when the group began is no loss.
  const isNew = start_offset >= (group.beganTo.get(log) ?? Number.POSITIVE_INFINITY);
  const kept = within.filter((record) => truth.removed.get(record) !== 'unclean_election').length;
  if (isClear && isNew && row.records + removed_offsets < kept) {
    say(`${row.records} records and ${removed_offsets} removed offsets of ${kept}`);
  }
  const due = within
    .filter((record) => (truth.removed.get(record) ?? 'retention') === 'retention')
    .filter((record) => !mustBeMissing(record, faults))
    .reduce((sum, { events }) => sum + Math.max(1, events.length), 0);
  if (named < due && !faults.has('start_from_latest')) say(`${due} events, and ${named} are named`);
  return problems;
}
