import { isOrphan, MANY_TOKENS, mayBeMissing, mayStandTwice, mustBeMissing } from './allowances.ts';
import { chunkProblems } from './chunk-problems.ts';
import { stageCountsOf } from './decoded-blocks.ts';
import type { FaultPlan } from './fault-plan.ts';
import { ledgerProblems } from './ledger-problems.ts';
import {
  isOfCluster,
  type SimClickHouse,
  type SimDatabase,
  type StoredBlock,
} from './sim-clickhouse.ts';
import { type Grain, grainOf } from './sim-config.ts';
import type { FleetGroup, SimFleet } from './sim-fleet.ts';
import type { EventFate, Truth, TruthEvent, TruthRecord } from './truth.ts';
import { sumsOfRecords, sumsOfRows, type WindowSum, type WindowSums } from './window-sums.ts';

export interface OracleInput {
  readonly clickhouse: SimClickHouse;
  readonly fleet: SimFleet;
  readonly truth: Truth;
  readonly faults: FaultPlan;
}

/** Most problems reported of one run; more of them add nothing. */
const MOST_PROBLEMS = 8;

/** Compares all stored data at the end of a run with the written records. Imports nothing of src/. */
export function findProblems(input: OracleInput): string[] {
  const { fleet, truth, faults } = input;
  const problems: string[] = [];
  const dues = new Map<SimDatabase, Due[]>();
  for (const each of fleet.groups) {
    const { kafka, group, database } = each;
    const all = kafka.everyLog
      .flatMap((log) => truth.of(log))
      .filter((record) => !mustBeMissing(record, faults));
    const sure = all.filter((record) => !mayBeMissing(record, truth, each, faults));
    const repeatable = truth.repeatable.get(group.groupId);
    const twice = all.filter((record) => repeatable?.has(record) === true);
    const due = { all, sure, twice };
    dues.set(database, [...(dues.get(database) ?? []), due]);
    problems.push(
      ...chunkProblems(each, truth),
      ...ledgerProblems(each, input, new Set(sure)),
      ...letterProblems(each, due),
      ...commitProblems(each),
    );
  }
  for (const [database, some] of dues) {
    const clusterIds = fleet.groups.map(({ kafka }) => kafka.clusterId);
    const strays = database.ledger.filter(
      (row) => !clusterIds.some((clusterId) => isOfCluster(row, clusterId)),
    );
    const due = {
      all: some.flatMap(({ all }) => all),
      sure: some.flatMap(({ sure }) => sure),
      twice: some.flatMap(({ twice }) => twice),
    };
    problems.push(
      ...strays.map(({ log_id }) => `a ledger row of log ${log_id}, of no cluster`),
      ...tableProblems(database, input, due, grainOf(faults)),
    );
  }
  return problems.slice(0, MOST_PROBLEMS);
}

interface Due {
  /** Everything that may be stored, once. */
  readonly all: readonly TruthRecord[];
  /** Records that must be stored. */
  readonly sure: readonly TruthRecord[];
  /** Records that may be stored once more. */
  readonly twice: readonly TruthRecord[];
}

const hasTotal = ({ stages }: TruthEvent) => stages.some(([stage]) => stage === 'total');

/**
 * Events that give a table rows, where not all do. A chunk that has lost the others need not be sent to it
 * again, and a table's block stands for all events of its chunk.
 */
const duesOf = new Map<string, (event: TruthEvent) => boolean>([
  ['drivers_1m', (event) => hasTotal(event) && event.hasFacet],
  ['exemplars', hasTotal],
]);

function tableProblems(
  database: SimDatabase,
  { fleet, truth }: Pick<OracleInput, 'fleet' | 'truth'>,
  { all, sure, twice }: Due,
  grain: Grain,
): string[] {
  const problems: string[] = [];
  const most = sumsOfRecords([...all, ...twice], grain, true);
  const checked = new Map<string, string[]>();
  const [landing] = database.tables;
  for (const { name, blocks } of database.tables) {
    const extra = database.tokensKept < MANY_TOKENS ? racedBlocks(database, fleet, blocks) : [];
    const kept = blocks.filter(
      (block) => !extra.includes(block) && !isOrphan(block, database, fleet.groups, truth),
    );
    const missed =
      database.tokensKept < MANY_TOKENS
        ? (landing?.blocks ?? []).filter(
            (block) =>
              database.isMissed(name, block.token) &&
              !kept.some(({ token }) => token === block.token),
          )
        : [];
    const here = [...kept, ...missed];
    const signature = [
      duesOf.has(name) ? name : '',
      ...here.map(({ token, bytes }) => `${token} ${bytes.length}`).sort(),
    ].join('\n');
    let found = checked.get(signature);
    if (found === undefined) {
      const least = sumsOfRecords(sure, grain, false, duesOf.get(name));
      const sums = sumsOfRows(rowsOf(here), grain);
      found = differences(sums, least, most);
      checked.set(signature, found);
    }
    problems.push(...found.map((problem) => `${name}: ${problem}`));
  }
  return problems;
}

function* rowsOf(blocks: readonly StoredBlock[]) {
  for (const { bytes } of blocks) yield* stageCountsOf(bytes);
}

/** Blocks that are stored again where that is allowed (`mayStandTwice`). */
function racedBlocks(
  database: SimDatabase,
  fleet: SimFleet,
  blocks: readonly StoredBlock[],
): StoredBlock[] {
  const landed = new Map<string, number>();
  return blocks.filter((block) => {
    const beforeMs = landed.get(block.token);
    landed.set(block.token, block.atMs);
    return beforeMs !== undefined && mayStandTwice(block, beforeMs, database, fleet.groups);
  });
}

function differences(found: WindowSums, least: WindowSums, most: WindowSums): string[] {
  const problems: string[] = [];
  for (const [key, sum] of found) {
    const limit = most.get(key);
    if (limit === undefined) {
      problems.push(`${key}: ${show(sum)}, nothing is due`);
      continue;
    }
    const due = least.get(key);
    const tooMuch =
      sum.requests > limit.requests ||
      sum.sumUs > limit.sumUs ||
      sum.errors > limit.errors ||
      sum.minMs < limit.minMs ||
      sum.maxMs > limit.maxMs;
    const tooLittle =
      due !== undefined &&
      (sum.requests < due.requests ||
        sum.sumUs < due.sumUs ||
        sum.errors < due.errors ||
        sum.minMs > due.minMs ||
        sum.maxMs < due.maxMs);
    if (tooMuch || tooLittle)
      problems.push(`${key}: ${show(sum)} instead of ${show(due ?? limit)}`);
  }
  for (const [key, sum] of least) {
    if (!found.has(key)) problems.push(`${key}: nothing instead of ${show(sum)}`);
  }
  return problems;
}

function show({ requests, sumUs, minMs, maxMs, errors }: WindowSum): string {
  return `${requests} requests, ${sumUs} µs, ${minMs}..${maxMs} ms, ${errors} errors`;
}

/** Every event and message that is not counted is a dead letter, and nothing else is. */
function letterProblems({ letters }: FleetGroup, { all, sure }: Due): string[] {
  const found = new Set(
    letters.letters.map(({ headers }) =>
      ['topic', 'partition', 'offset', 'index']
        .map((name) => headers[`tailmark-${name}`])
        .join('/'),
    ),
  );
  const may = lettersOf(all, ['late', 'future', 'edge']);
  const must = lettersOf(sure, ['late', 'future']);
  return [
    ...[...found].filter((id) => !may.has(id)).map((id) => `dead letter ${id} is of a good event`),
    ...[...must].filter((id) => !found.has(id)).map((id) => `dead letter ${id} is missing`),
  ];
}

function lettersOf(records: readonly TruthRecord[], fates: readonly EventFate[]): Set<string> {
  const ids = new Set<string>();
  for (const { log, offset, events } of records) {
    const place = `${log.topic}/${log.partition}/${offset}`;
    if (events.length === 0) ids.add(`${place}/0`);
    events.forEach(({ fate }, index) => {
      if (fates.includes(fate)) ids.add(`${place}/${index}`);
    });
  }
  return ids;
}

/** At the end the group's commit is where its ledger ends, with nothing pending. */
function commitProblems({ kafka, group, database }: FleetGroup): string[] {
  const problems: string[] = [];
  for (const log of kafka.logs) {
    const { topic, partition, high } = log;
    const commit = group.commits.get(`${topic}/${partition}`);
    if (commit === undefined) continue;
    const offset = Number(commit.offset);
    // kafkajs commits -2 where an offset is out of range: it counts as none.
    if (offset < 0 || group.isSetBack(log)) continue;
    if (commit.metadata.includes('"endOffset"')) {
      problems.push(`${topic}/${partition}: an intent is pending at the end`);
    }
    if (offset > high)
      problems.push(`${topic}/${partition}: ${offset} is committed, the log ends at ${high}`);
    const end = database.ledgerEndOf(group.groupId, log);
    if (end !== undefined && end !== offset) {
      problems.push(`${topic}/${partition}: ${offset} is committed, the ledger ends at ${end}`);
    }
  }
  return problems;
}
