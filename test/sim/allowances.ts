import type { FaultPlan } from './fault-plan.ts';
import type { SimGroup } from './sim-group.ts';
import type { Truth, TruthRecord } from './truth.ts';

/**
 * All that docs/exactly-once.md does not promise, and what exactly may then be so. Everything else
 * must be exact in every run.
 *
 * 1. A record that retention, compaction or the deletion of its topic removed may be missing: it may
 *    have been gone before anybody could store it. It must not be there twice.
 * 2. A group that begins at the end of its topics (`start_from: latest`) may miss what was written
 *    before the first offset it ever committed for the partition, and nothing after it; if its
 *    commits are gone before anything of the partition is in the ledger, it begins anew.
 * 3. A server that keeps no tokens, or few: a table behind the landing table may miss a block whose
 *    insert broke off after it had landed; and a block of which two sends were on their way at once
 *    may be there once more for each of them.
 * 4. A group whose commits are gone while a chunk was being stored: rows of that chunk's records may
 *    be there once more, as nobody can know of it.
 * 5. A commit that comes after a later one puts the group back ("a commit came late and put the group
 *    back", in "Taking a partition"): it may stand at the end, as whoever takes the partition next goes
 *    on where the ledger ends. All must be stored all the same, once.
 */
export function mayBeMissing(
  record: TruthRecord,
  truth: Truth,
  group: SimGroup,
  faults: FaultPlan,
): boolean {
  if (truth.removed.has(record)) return true;
  if (!faults.has('start_from_latest')) return false;
  return record.offset < (group.begins.get(record.log) ?? Number.POSITIVE_INFINITY);
}

/** Tokens beyond which a server is taken to remember for as long as a run lasts. */
export const MANY_TOKENS = 1_000;
