import { logMarkOf } from '../../src/sink/chunks/chunk-marks.ts';
import { mayBeMadeAgain, mayDiffer } from './allowances.ts';
import { originOf, stageCountsOf } from './decoded-blocks.ts';
import { logOf } from './ledger-problems.ts';
import type { PartitionLog } from './partition-log.ts';
import {
  isOfCluster,
  type SimDatabase,
  type StoredBlock,
  type StoredLedgerRow,
} from './sim-clickhouse.ts';
import type { FleetGroup } from './sim-fleet.ts';
import type { Truth, TruthRecord } from './truth.ts';

/**
 * Compares the places that describe a chunk. Each builder of it makes the same rows, and the ledger has the
 * number of landed samples. Each event that it does not count is a dead letter.
 */
export function chunkProblems(of: FleetGroup, truth: Truth): string[] {
  const { kafka, group, database, letters } = of;
  const logs = kafka.everyLog;
  const problems: string[] = [];
  const repeated = truth.repeatable.get(group.groupId) ?? new Set();
  const lettersAt = new Map<string, Set<string>>();
  for (const { headers } of letters.letters) {
    const place = ['topic', 'partition', 'offset'].map((name) => headers[`tailmark-${name}`]);
    const known = lettersAt.get(place.join('/')) ?? new Set();
    lettersAt.set(place.join('/'), known.add(String(headers['tailmark-index'])));
  }
  const blocks = blocksOf(database);
  problems.push(...unrecorded(blocks, { database, kafka, group }, truth, repeated));
  for (const row of database.ledger.filter((each) => isOfCluster(each, kafka.clusterId))) {
    const origin = originOfRow(row);
    const name = `${origin}-${row.end_offset}`;
    const records = recordsOf(row, truth, logs);
    if (records.some((each) => repeated.has(each))) continue;
    const landed = blocks.get(origin) ?? [];
    // Of chunks that may be made of fewer records, less is certain.
    const isClear = records.every((each) => !truth.removed.has(each));
    const isLate = landed.every((block) => mayDiffer(block, row, database));
    const isLanded =
      landed.length === 0 || landed.some((block) => samplesOf(block) === row.samples);
    if (!isLanded && (isClear || !isLate)) {
      const samples = landed.map(samplesOf).join(' and ');
      problems.push(`${name}: ${samples} samples have landed, the ledger says ${row.samples}`);
    }
    // Dead letters do not say which log they are of.
    const isAlone = logs.filter((log) => isOfRow(log, row)).length === 1;
    if (!isClear || !isAlone) continue;
    if (database.changed.has(origin) && !mayBeMadeAgain(origin, database, [of]))
      problems.push(`${name}: under one token other rows came`);
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

function isOfRow(log: PartitionLog, { topic, partition }: StoredLedgerRow): boolean {
  return log.topic === topic && log.partition === partition;
}

/** Rows in the tables without a ledger row. */
function unrecorded(
  blocks: ReadonlyMap<string, unknown>,
  { database, kafka, group }: Pick<FleetGroup, 'database' | 'kafka' | 'group'>,
  truth: Truth,
  repeated: ReadonlySet<TruthRecord>,
): string[] {
  const recorded = new Set(database.ledger.map(originOfRow));
  return [...blocks.keys()].flatMap((origin) => {
    if (recorded.has(origin)) return [];
    const [, topic, partition, mark, start] = origin.split('/');
    // Where its topic was deleted meanwhile, or its group forgotten, a chunk stays unfinished.
    const isNobodys = [...truth.records].some(([log, records]) => {
      const isOfLog = log.topic === topic && log.partition === Number(partition);
      const first = isOfLog ? records.find(({ offset }) => offset >= Number(start)) : undefined;
      if (first === undefined) return false;
      // Records may have been removed before their topic went.
      const isDeleted = kafka.logOf(log.topic, log.partition)?.logId !== log.logId;
      const isGone = records.some((each) => truth.removed.get(each) === 'topic_recreated');
      const isOfDeleted = isDeleted && logMarkOf(log.logId) === Number(mark);
      const isCut = truth.removed.get(first) === 'unclean_election' && group.wasSetBack(log);
      return repeated.has(first) || isGone || isOfDeleted || isCut;
    });
    return isNobodys ? [] : [`${origin} has landed, and the ledger does not have it`];
  });
}

function originOfRow(row: StoredLedgerRow): string {
  const { group_id, topic, partition, log_mark, start_offset } = row;
  return `${group_id}/${topic}/${partition}/${log_mark}/${start_offset}`;
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

/** Records at the offsets of a range. */
function recordsOf(
  row: StoredLedgerRow,
  truth: Truth,
  logs: readonly PartitionLog[],
): TruthRecord[] {
  const log = logOf(row, logs);
  const records = log === undefined ? [] : truth.readable(log);
  return records.filter(({ offset }) => offset >= row.start_offset && offset < row.end_offset);
}

function samplesOf({ bytes }: StoredBlock): number {
  return stageCountsOf(bytes).reduce((sum, { requests }) => sum + requests, 0);
}
