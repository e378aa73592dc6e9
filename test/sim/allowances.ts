import { goesTo, originOf } from './decoded-blocks.ts';
import type { FaultPlan } from './fault-plan.ts';
import type { StoredBlock, StoredLedgerRow } from './sim-clickhouse.ts';
import type { FleetGroup } from './sim-fleet.ts';
import type { Truth, TruthRecord } from './truth.ts';

/**
 * Results that docs/explained/exactly-once.md does not promise, and the exact differences allowed then.
 * Everything else must be exact in every run.
 *
 * 1. A record that retention, compaction or the deletion of its topic removed may be missing: it may have
 *    been gone before it could be stored. It must not be stored twice.
 * 2. A group that starts at the end of its topics (`start_from: latest`) may miss records from before the
 *    first offset it ever committed for the partition, and none after it. If its commits are gone before the
 *    ledger has a row of the partition, it starts again. A partition that was added after the group had
 *    stored something of the topic is read whole.
 * 3. A server that keeps no tokens, or few. A table behind the landing table may miss a block whose insert
 *    failed after it had landed. A block may be stored once more for each send that its sender could not see:
 *    one at the same time, or one that landed after the sender had looked. So may a block that a
 *    table lacked and that was on its way while half as many came as the server keeps tokens.
 *    With no tokens, so may the block of a chunk whose intent a late commit replaced: its next maker has
 *    another clock, and does not find it by its mark. So may a ledger row of which another landed after
 *    somebody had looked for it, or of a member that was removed from its group while it stored the chunk,
 *    unaware of it.
 * 4. A group whose commits are gone while a chunk was being stored. Rows of that chunk's records may be
 *    stored once more, in the ledger too, since no process can know of it. Where the server had been killed
 *    in the chunk's statements as well, they may be missing: rows sent under its token are dropped.
 * 5. A commit that arrives after a later one sets the group back ("a commit came late and put the group
 *    back", in "Taking a partition"). It may be the last one, since the next owner of the partition continues
 *    where the ledger ends. All records must be stored once nevertheless. Where the log is truncated within a
 *    chunk whose intent went so, no process knows of the chunk: its rows stay without a ledger row, and
 *    what is left of its records is stored again.
 * 6. A server that is killed repeatedly with the token stored and no rows, in the same chunk and table, more
 *    often than the chunk is sent again. It is not simulated.
 * 7. A chunk some of whose records were removed while it was being stored. Its insert may arrive after a
 *    successor has looked for it and is about to write the ledger. A successor's own rows may have landed
 *    before its own takeover. In both cases the ledger may state more or less than what landed.
 */
export function mayBeMissing(
  record: TruthRecord,
  truth: Truth,
  { kafka, group, database }: FleetGroup,
  faults: FaultPlan,
): boolean {
  if (truth.removed.has(record)) return true;
  const isForgotten = truth.repeatable.get(group.groupId)?.has(record) === true;
  if (isForgotten && faults.counts.has('token_without_rows')) return true;
  if (!faults.has('start_from_latest')) return false;
  const { topic, addedMs } = record.log;
  const startedMs = database.beganMs(group.groupId, kafka.clusterId, topic);
  if (addedMs !== undefined && startedMs !== undefined && addedMs > startedMs) return false;
  return record.offset < (group.begins.get(record.log) ?? Number.POSITIVE_INFINITY);
}

/** True where a block is allowed whose token another has had that landed at `beforeMs`. */
export function mayStandTwice(
  block: StoredBlock,
  beforeMs: number,
  database: FleetGroup['database'],
  groups: readonly FleetGroup[],
): boolean {
  const { token, bytes, atMs } = block;
  if (database.isRaced(token) || isOutrun(block, database)) return true;
  const origin = originOf(bytes);
  const lookedMs = database.lookedMs(origin, atMs);
  if (Number.isFinite(lookedMs) && beforeMs >= lookedMs) return true;
  return mayBeMadeAgain(origin, database, groups);
}

/**
 * True where half of the tokens that the server keeps are of blocks that landed while this one was on its way,
 * which some table lacked when it was sent.
 */
function isOutrun(
  { token, bytes, sentMs, atMs }: StoredBlock,
  { tables, tokensKept }: FleetGroup['database'],
): boolean {
  const wasLacked = tables.some(
    ({ name, blocks }) =>
      goesTo(bytes, name) && !blocks.some((each) => each.token === token && each.atMs <= sentMs),
  );
  const landed = (tables[0]?.blocks ?? []).filter((each) => each.atMs > sentMs && each.atMs < atMs);
  return wasLacked && landed.length * 2 >= tokensKept;
}

/** True where the next maker of a chunk need not know of it: allowance 3. */
export function mayBeMadeAgain(
  origin: string,
  { tokensKept }: FleetGroup['database'],
  groups: readonly FleetGroup[],
): boolean {
  return tokensKept === 0 && wasReplaced(origin, groups);
}

/** True where nobody knows of a chunk: its intent was replaced, and the log was cut within it. Allowance 5. */
export function isOrphan(
  { token, bytes }: StoredBlock,
  { ledger }: FleetGroup['database'],
  groups: readonly FleetGroup[],
  truth: Truth,
): boolean {
  const origin = originOf(bytes);
  if (!wasReplaced(origin, groups)) return false;
  const [groupId, topic, partition, , start] = origin.split('/');
  const [, end, epoch] = /-(\d+)@(-?\d+)$/.exec(token) ?? [];
  const chunk = `${groupId}/${topic}/${partition}/${start}-${end}@${epoch}`;
  const isRecorded = ledger.some(
    (row) =>
      chunk ===
      `${row.group_id}/${row.topic}/${row.partition}/${row.start_offset}-${row.end_offset}@${row.leader_epoch}`,
  );
  const isCut = [...truth.removed].some(
    ([{ log, offset }, cause]) =>
      cause === 'unclean_election' &&
      `${log.topic}/${log.partition}` === `${topic}/${partition}` &&
      offset >= Number(start) &&
      offset < Number(end),
  );
  return isCut && !isRecorded;
}

/** True where a late commit has replaced the intent of the chunk that begins there. */
function wasReplaced(origin: string, groups: readonly FleetGroup[]): boolean {
  const [groupId, topic = '', partition, , start] = origin.split('/');
  return groups.some(
    ({ group }) =>
      group.groupId === groupId && group.wasReplaced(topic, Number(partition), Number(start)),
  );
}

/** True where a second ledger row of the same chunk is allowed. */
export function mayStandAgain(
  row: StoredLedgerRow,
  before: StoredLedgerRow,
  database: FleetGroup['database'],
): boolean {
  const isUnseen = row.instance !== before.instance || database.wasLookedFor(before);
  if (database.tokensKept === 0 && isUnseen) return true;
  return database.tokensKept < MANY_TOKENS && database.isLedgerRaced(row);
}

/** True where the landed rows of a chunk with removed records may differ from the ledger. */
export function mayDiffer(
  block: StoredBlock,
  row: StoredLedgerRow,
  database: FleetGroup['database'],
): boolean {
  const { group_id, topic, partition, log_mark, start_offset } = row;
  const origin = `${group_id}/${topic}/${partition}/${log_mark}/${start_offset}`;
  const lookedMs = database.lookedMs(origin, row.flushed_ms);
  const sinceMs = Number.isFinite(lookedMs) ? lookedMs : row.flushed_ms;
  return block.atMs >= sinceMs || !database.isFirst(block);
}

/** Records from before a group started that starts at the end of its topics. */
export function mustBeMissing(record: TruthRecord, faults: FaultPlan): boolean {
  return record.isFirst && faults.has('start_from_latest');
}

/** Number of tokens from which on a server counts as remembering for a whole run. */
export const MANY_TOKENS = 1_000;
