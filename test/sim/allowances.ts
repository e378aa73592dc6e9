import type { FaultPlan } from './fault-plan.ts';
import type { StoredBlock, StoredLedgerRow } from './sim-clickhouse.ts';
import type { FleetGroup } from './sim-fleet.ts';
import type { Truth, TruthRecord } from './truth.ts';

/**
 * All that docs/explained/exactly-once.md does not promise, and what exactly may then be so. Everything else
 * must be exact in every run.
 *
 * 1. A record that retention, compaction or the deletion of its topic removed may be missing: it may
 *    have been gone before anybody could store it. It must not be there twice.
 * 2. A group that begins at the end of its topics (`start_from: latest`) may miss what was written
 *    before the first offset it ever committed for the partition, and nothing after it; if its
 *    commits are gone before anything of the partition is in the ledger, it begins anew. A partition
 *    that was added after the group had stored something of the topic is read whole.
 * 3. A server that keeps no tokens, or few: a table behind the landing table may miss a block whose
 *    insert broke off after it had landed; and a block of which two sends were on their way at once
 *    may be there once more for each of them. One that keeps none: also a ledger row, of a member that
 *    was thrown out of its group while it stored the chunk and had not heard of it yet.
 * 4. A group whose commits are gone while a chunk was being stored: rows of that chunk's records may
 *    be there once more, in the ledger too, as nobody can know of it; and where the server had been
 *    killed in the chunk's statements as well, they may be missing: what is sent under its token is
 *    dropped.
 * 5. A commit that comes after a later one puts the group back ("a commit came late and put the group
 *    back", in "Taking a partition"): it may stand at the end, as whoever takes the partition next goes
 *    on where the ledger ends. All must be stored all the same, once.
 * 6. A server that is killed again and again with the token noted and no rows, in the same chunk and
 *    table, more often than the chunk is sent anew. It is not simulated.
 * 7. A chunk of whose records some were removed while it was being stored: where its insert arrives
 *    after a successor has looked for it and is about to write the ledger, and where a successor's own
 *    rows have landed and it was succeeded itself, the ledger may say more or less than what landed.
 */
export function mayBeMissing(
  record: TruthRecord,
  truth: Truth,
  { group, database }: FleetGroup,
  faults: FaultPlan,
): boolean {
  if (truth.removed.has(record)) return true;
  const isForgotten = truth.repeatable.get(group.groupId)?.has(record) === true;
  if (isForgotten && faults.counts.has('token_without_rows')) return true;
  if (!faults.has('start_from_latest')) return false;
  const { topic, addedMs } = record.log;
  const begunMs = database.beganMs(group.groupId, topic);
  if (addedMs !== undefined && begunMs !== undefined && addedMs > begunMs) return false;
  return record.offset < (group.begins.get(record.log) ?? Number.POSITIVE_INFINITY);
}

/** Whether a ledger row may stand there although one of the same chunk does. */
export function mayStandAgain(
  row: StoredLedgerRow,
  before: StoredLedgerRow,
  database: FleetGroup['database'],
): boolean {
  if (database.tokensKept === 0 && row.instance !== before.instance) return true;
  return database.tokensKept < MANY_TOKENS && database.isLedgerRaced(row);
}

/** Whether what landed of a chunk whose records were removed may be other than the ledger says. */
export function mayDiffer(
  block: StoredBlock,
  row: StoredLedgerRow,
  database: FleetGroup['database'],
): boolean {
  const origin = `${row.group_id}/${row.topic}/${row.partition}/${row.start_offset}`;
  const lookedMs = database.lookedMs(origin, row.flushed_ms);
  const sinceMs = Number.isFinite(lookedMs) ? lookedMs : row.flushed_ms;
  return block.atMs >= sinceMs || !database.isFirst(block);
}

/** What was there before a group began that begins at the end of its topics. */
export function mustBeMissing(record: TruthRecord, faults: FaultPlan): boolean {
  return record.isFirst && faults.has('start_from_latest');
}

/** Tokens beyond which a server is taken to remember for as long as a run lasts. */
export const MANY_TOKENS = 1_000;
