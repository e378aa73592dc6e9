import { mayDiffer } from './allowances.ts';
import { originOf, stageCountsOf } from './decoded-blocks.ts';
import type { SimDatabase, StoredBlock, StoredLedgerRow } from './sim-clickhouse.ts';
import type { FleetGroup } from './sim-fleet.ts';
import type { Truth, TruthRecord } from './truth.ts';

/**
 * Compares the places that describe a chunk. Each builder of it makes the same rows, and the ledger has the
 * number of landed samples. Each event that it does not count is a dead letter.
 */
export function chunkProblems({ group, database, letters }: FleetGroup, truth: Truth): string[] {
  const problems: string[] = [];
  const repeated = truth.repeatable.get(group.groupId) ?? new Set();
  const lettersAt = new Map<string, Set<string>>();
  for (const { headers } of letters.letters) {
    const place = ['topic', 'partition', 'offset'].map((name) => headers[`tailmark-${name}`]);
    const known = lettersAt.get(place.join('/')) ?? new Set();
    lettersAt.set(place.join('/'), known.add(String(headers['tailmark-index'])));
  }
  const blocks = blocksOf(database);
  problems.push(...unrecorded(blocks, database, truth, repeated));
  for (const row of database.ledger) {
    const origin = originOfRow(row);
    const name = `${origin}-${row.end_offset}`;
    const records = recordsOf(row, truth);
    if (records.some((each) => repeated.has(each))) continue;
    const landed = blocks.get(origin) ?? [];
    // For recreated topics, and chunks that may be made of fewer records, less is certain.
    const isClear = records.every((each) => !truth.removed.has(each));
    const isLate = landed.every((block) => mayDiffer(block, row, database));
    const isOfOldLog = records.some((each) => truth.removed.get(each) === 'topic_recreated');
    const isLanded =
      landed.length === 0 ||
      landed.some((block) => samplesOf(block) === row.samples) ||
      (row.samples === 0 && (isOfOldLog || areOfOthers(landed, row, database)));
    if (!isLanded && (isClear || !isLate)) {
      const samples = landed.map(samplesOf).join(' and ');
      problems.push(`${name}: ${samples} samples have landed, the ledger says ${row.samples}`);
    }
    if (!isClear) continue;
    if (database.changed.has(origin)) problems.push(`${name}: under one token other rows came`);
    let count = 0;
    for (const { log, offset } of records) {
      count += lettersAt.get(`${log.topic}/${log.partition}/${offset}`)?.size ?? 0;
    }
    if (count !== row.rejected + row.late) {
      problems.push(`${name}: ${count} dead letters, the ledger says ${row.rejected + row.late}`);
    }
  }
  return problems;
}

/** True where other ledger rows, of a log before, account for all that landed at a chunk's offset. */
function areOfOthers(
  landed: readonly StoredBlock[],
  row: StoredLedgerRow,
  { ledger }: SimDatabase,
): boolean {
  const others = ledger.filter((each) => each !== row && originOfRow(each) === originOfRow(row));
  return landed.every((block) => others.some(({ samples }) => samples === samplesOf(block)));
}

/** Rows in the tables without a ledger row. */
function unrecorded(
  blocks: ReadonlyMap<string, unknown>,
  database: SimDatabase,
  truth: Truth,
  repeated: ReadonlySet<TruthRecord>,
): string[] {
  const recorded = new Set(database.ledger.map(originOfRow));
  return [...blocks.keys()].flatMap((origin) => {
    if (recorded.has(origin)) return [];
    const [, topic, partition, start] = origin.split('/');
    // Where its topic was deleted meanwhile, or its group forgotten, a chunk stays unfinished.
    const isNobodys = [...truth.records].some(([log, records]) => {
      const isOfLog = log.topic === topic && log.partition === Number(partition);
      const first = isOfLog ? records.find(({ offset }) => offset >= Number(start)) : undefined;
      if (first === undefined) return false;
      // Its first record may have been removed before the others went with their topic.
      const isGone = records.some((each) => truth.removed.get(each) === 'topic_recreated');
      return repeated.has(first) || isGone;
    });
    return isNobodys ? [] : [`${origin} has landed, and the ledger does not have it`];
  });
}

function originOfRow({ group_id, topic, partition, start_offset }: StoredLedgerRow): string {
  return `${group_id}/${topic}/${partition}/${start_offset}`;
}

/** Blocks in the landing table by the start of their chunk: more than one where a topic was recreated. */
function blocksOf({ tables }: SimDatabase): ReadonlyMap<string, readonly StoredBlock[]> {
  const found = new Map<string, StoredBlock[]>();
  for (const block of tables[0]?.blocks ?? []) {
    const origin = originOf(block.bytes);
    found.set(origin, [...(found.get(origin) ?? []), block]);
  }
  return found;
}

/** Records at the offsets of a range, of every log that the topic has had. */
function recordsOf(row: StoredLedgerRow, truth: Truth): TruthRecord[] {
  return [...truth.records].flatMap(([log, records]) =>
    log.topic === row.topic && log.partition === row.partition
      ? records.filter(({ offset }) => offset >= row.start_offset && offset < row.end_offset)
      : [],
  );
}

function samplesOf({ bytes }: StoredBlock): number {
  return stageCountsOf(bytes).reduce((sum, { requests }) => sum + requests, 0);
}
