import { mayDiffer } from './allowances.ts';
import { stageCountsOf } from './decoded-blocks.ts';
import type { SimDatabase, StoredBlock, StoredLedgerRow } from './sim-clickhouse.ts';
import type { FleetGroup } from './sim-fleet.ts';
import type { Truth, TruthRecord } from './truth.ts';

/**
 * Holds what is said of a chunk in one place against the others: whoever makes it again makes the
 * same rows, the ledger says how many samples landed, and each event that it does not count is a
 * dead letter.
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
  problems.push(...unrecorded(database, truth, repeated));
  for (const row of database.ledger) {
    const token = tokenOf(row);
    const records = recordsOf(row, truth);
    if (records.some((each) => repeated.has(each))) continue;
    const landed = landedBlock(database, token);
    const samples = landed === undefined ? row.samples : samplesOf(landed);
    // Of a topic made anew, or where a chunk may have been made of fewer records, less is sure.
    const isClear = records.every((each) => !truth.removed.has(each));
    const isLate = landed !== undefined && mayDiffer(landed, row);
    if (samples !== row.samples && (isClear || !isLate)) {
      problems.push(`${token}: ${samples} samples have landed, the ledger says ${row.samples}`);
    }
    if (!isClear) continue;
    if (database.changed.has(token)) problems.push(`${token}: made again of the same, it differs`);
    let count = 0;
    for (const { log, offset } of records) {
      count += lettersAt.get(`${log.topic}/${log.partition}/${offset}`)?.size ?? 0;
    }
    if (count !== row.rejected + row.late) {
      problems.push(`${token}: ${count} dead letters, the ledger says ${row.rejected + row.late}`);
    }
  }
  return problems;
}

/** Rows in the tables that no ledger row speaks of. */
function unrecorded(
  { tables, ledger }: SimDatabase,
  truth: Truth,
  repeated: ReadonlySet<TruthRecord>,
): string[] {
  const recorded = new Set(ledger.map(tokenOf));
  return (tables[0]?.blocks ?? []).flatMap(({ token }) => {
    if (recorded.has(token)) return [];
    const [, topic = '', partition, range = ''] = token.split('/');
    const [start_offset = 0, end_offset = 0] = range.split('-').map(Number);
    const place = { topic, partition: Number(partition), start_offset, end_offset };
    // Where its topic was deleted meanwhile, or its group forgotten, nobody finishes a chunk.
    const isNobodys = recordsOf(place, truth).some(
      (record) => repeated.has(record) || truth.removed.get(record) === 'topic_recreated',
    );
    return isNobodys ? [] : [`${token} has landed, and the ledger does not have it`];
  });
}

function tokenOf(row: StoredLedgerRow): string {
  const { group_id, topic, partition, start_offset, end_offset, first_ms, last_ms } = row;
  return `${group_id}/${topic}/${partition}/${start_offset}-${end_offset}/${first_ms}-${last_ms}`;
}

/** Records at the offsets of a range, of every log that the topic has had. */
function recordsOf(
  row: Pick<StoredLedgerRow, 'topic' | 'partition' | 'start_offset' | 'end_offset'>,
  truth: Truth,
): TruthRecord[] {
  return [...truth.records].flatMap(([log, records]) =>
    log.topic === row.topic && log.partition === row.partition
      ? records.filter(({ offset }) => offset >= row.start_offset && offset < row.end_offset)
      : [],
  );
}

/** A chunk's block in the landing table. */
function landedBlock({ tables }: SimDatabase, token: string): StoredBlock | undefined {
  return tables[0]?.blocks.find((each) => each.token === token);
}

function samplesOf({ bytes }: StoredBlock): number {
  return stageCountsOf(bytes).reduce((sum, { requests }) => sum + requests, 0);
}
