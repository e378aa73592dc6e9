import type { FaultKind } from './fault-kinds.ts';
import type { PartitionLog } from './partition-log.ts';
import { recreateWhilePending } from './recreated-topic.ts';
import type { SimClickHouse } from './sim-clickhouse.ts';
import type { SimFleet } from './sim-fleet.ts';
import type { SimKafka } from './sim-kafka.ts';
import type { SimProcess } from './sim-process.ts';
import { type SimWorld, WRONG_CLOCK_MS } from './sim-world.ts';
import type { Truth } from './truth.ts';
import type { Workload } from './workload.ts';

export interface AdversitySetting {
  readonly clusters: readonly SimKafka[];
  readonly clickhouse: SimClickHouse;
  readonly fleet: SimFleet;
  readonly truth: Truth;
  readonly workload: Workload;
  readonly topics: readonly string[];
  readonly activeMs: number;
}

const SESSION_MS = 6_000;
/** Largest error of a wall clock: docs/explained/exactly-once.md describes larger ones. */
export const MOST_SKEW_MS = 400_000;

/** Schedules the faults of a run that hit more than single requests. */
export function adversity(world: SimWorld, setting: AdversitySetting): void {
  const { scheduler, random, faults } = world;
  const plan = (kind: FaultKind, most: number, happen: () => boolean, times = random) => {
    const count = faults.times(kind, most);
    for (let i = 0; i < count; i++) {
      scheduler.at(times.unit() * setting.activeMs, undefined, () => {
        if (faults.isActive && happen()) faults.note(kind);
      });
    }
  };
  const someProcess = (happen: (process: SimProcess) => void) => () => {
    const up = setting.fleet.processes.filter(({ state }) => state === 'up');
    if (up.length === 0) return false;
    happen(random.pick(up));
    return true;
  };
  for (const [kind, most, happen] of processFaults(world, setting)) {
    plan(kind, most, someProcess(happen));
  }
  for (const [kind, most, happen] of serverFaults(world, setting)) plan(kind, most, happen);
  for (const [kind, most, happen] of removals(world, setting)) {
    plan(kind, most, happen, faults.later);
  }
  plan('commits_restored', 2, () => restoreCommits(world, setting), faults.latest);
  // The worst moment: a pending chunk is being read again; its next record is removed, or its reader dies.
  const beforeFetch = (kafka: SimKafka) => (log: PartitionLog, offset: number, reader: string) => {
    // Another bad one: reading goes one record back, and another leader lacks that record.
    if (isReadBack(kafka, log, offset, setting.fleet) && faults.strikes('unclean_election', 10)) {
      loseEnd(kafka, log, offset, true, world, setting);
      return;
    }
    // The end of the log goes, and one more record before anything is read.
    if (log.before?.at === offset && offset > log.low && faults.strikes('unclean_election', 3)) {
      loseEnd(kafka, log, offset - 1, true, world, setting);
      return;
    }
    const pending = pendingAround(kafka, log, offset, setting.fleet);
    if (pending === undefined) return;
    // And one more: some of its records go after the log was looked up.
    const last = Math.min(pending.endOffset, log.high) - 1;
    if (last > offset && faults.strikes('unclean_election', 10)) {
      loseEnd(kafka, log, random.between(offset + 1, last), true, world, setting);
      return;
    }
    if (pending.startOffset === offset) return;
    if (faults.strikes('retention', 10)) {
      deleteBelow(log, Math.min(log.high, offset + random.between(1, 3)), world, setting.truth);
    }
    const process = setting.fleet.processes.find(({ name }) => name === reader);
    if (process !== undefined && faults.strikes('sigterm_at_call', 1))
      setting.fleet.terminate(process);
  };
  for (const kafka of setting.clusters) kafka.beforeFetch = beforeFetch(kafka);
}

/** A group's pending chunk around an offset, which is then read once more. */
function pendingAround(
  kafka: SimKafka,
  { topic, partition }: PartitionLog,
  offset: number,
  fleet: SimFleet,
): { readonly startOffset: number; readonly endOffset: number } | undefined {
  return fleet.groups
    .filter((each) => each.kafka === kafka)
    .map(({ group }) => {
      const commit = group.commits.get(`${topic}/${partition}`);
      const [, end = 0] = /"endOffset":(\d+)/.exec(commit?.metadata ?? '') ?? [];
      return { startOffset: Number(commit?.offset ?? offset + 1), endOffset: Number(end) };
    })
    .find(({ startOffset, endOffset }) => startOffset <= offset && offset < endOffset);
}

/** True where a group reads the last record again that its ledger has. */
function isReadBack(kafka: SimKafka, log: PartitionLog, offset: number, fleet: SimFleet): boolean {
  const groups = fleet.groups.filter((each) => each.kafka === kafka);
  return groups.some(
    ({ group, database }) => database.ledgerEndOf(group.groupId, log) === offset + 1,
  );
}

type OfProcess = readonly [FaultKind, number, (process: SimProcess) => void];
type OfServer = readonly [FaultKind, number, () => boolean];

function processFaults(world: SimWorld, { fleet, activeMs }: AdversitySetting): OfProcess[] {
  const { scheduler, random, trace } = world;
  const freeze = (process: SimProcess, ms: number) => {
    process.state = 'frozen';
    trace?.(process.name, `stops for ${Math.round(ms)} ms`);
    scheduler.at(ms, undefined, () => {
      if (process.state === 'frozen') scheduler.thaw(process);
    });
  };
  const wrong = new Set<SimProcess>();
  const jump = (process: SimProcess, ms: number) => {
    const skewMs = Math.min(MOST_SKEW_MS, Math.max(-MOST_SKEW_MS, process.skewMs + ms));
    trace?.(process.name, `its clock jumps by ${Math.round(skewMs - process.skewMs)} ms`);
    process.skewMs = skewMs;
  };
  return [
    ['crash', 8, (process) => process.die('killed')],
    ['freeze', 6, (process) => freeze(process, random.unit() * 15_000)],
    [
      'zombie',
      2,
      (process) =>
        freeze(
          process,
          Math.max(SESSION_MS * 10, Math.min(activeMs, SESSION_MS * 10 * (1 + random.unit()))),
        ),
    ],
    ['sigterm', 6, (process) => fleet.terminate(process)],
    [
      'cut_off',
      4,
      (process) => {
        const ms = random.unit() * 30_000;
        trace?.(process.name, `cannot reach Kafka for ${Math.round(ms)} ms`);
        process.endpoint.cutOffUntilMs = scheduler.nowMs + ms;
        for (const connection of [...process.endpoint.connections]) {
          scheduler.at(random.unit() * 4_000, process, () => connection.fail());
        }
      },
    ],
    [
      'clock_wrong',
      4,
      (process) => {
        if (wrong.has(process)) return;
        wrong.add(process);
        const rightMs = process.skewMs;
        jump(process, -WRONG_CLOCK_MS);
        scheduler.at(random.unit() * WRONG_CLOCK_MS, undefined, () => {
          wrong.delete(process);
          // Faults overlap: it may have been set right, or put further back, meanwhile.
          process.skewMs = Math.max(process.skewMs, rightMs);
        });
      },
    ],
    ['clock_forward', 4, (process) => jump(process, 10_000 + random.unit() * MOST_SKEW_MS)],
    ['clock_back', 4, (process) => jump(process, -10_000 - random.unit() * MOST_SKEW_MS)],
  ];
}

function serverFaults(world: SimWorld, setting: AdversitySetting): OfServer[] {
  const { scheduler, random, trace } = world;
  const { clusters, clickhouse, fleet, truth, workload, topics } = setting;
  const someLog = () => {
    const kafka = random.pick(clusters);
    return { kafka, log: kafka.logs.length === 0 ? undefined : random.pick(kafka.logs) };
  };
  return [
    [
      'member_joins',
      2,
      () => {
        fleet.add();
        return true;
      },
    ],
    [
      'kick',
      4,
      () => {
        const { group } = random.pick(fleet.groups);
        const { memberIds } = group;
        if (memberIds.length === 0) return false;
        group.remove(random.pick(memberIds));
        return true;
      },
    ],
    [
      'broker_restart',
      3,
      () => {
        const kafka = random.pick(clusters);
        const node = random.pick(kafka.nodes);
        if (!node.isUp) return false;
        kafka.restart(node, 200 + random.unit() * 8_000);
        // What the next leader writes first may be invisible.
        for (const log of kafka.logs) {
          if (kafka.leaderOf(log.partition) === node) workload.abortSome(log, scheduler.nowMs);
        }
        return true;
      },
    ],
    [
      'clickhouse_down',
      3,
      () => {
        if (clickhouse.isUp) clickhouse.goAway(5_000 + random.unit() * 25_000);
        return true;
      },
    ],
    [
      'clickhouse_restart',
      4,
      () => {
        if (clickhouse.isUp) clickhouse.goAway(300 + random.unit() * 3_000);
        return true;
      },
    ],
    [
      'clickhouse_slow',
      3,
      () => {
        clickhouse.slowUntilMs = scheduler.nowMs + random.unit() * 20_000;
        return true;
      },
    ],
    [
      'lagging_replica',
      3,
      () => {
        if (clickhouse.replicaLagMs !== undefined) return false;
        const lagMs = random.unit() * 10_000;
        const forMs = random.unit() * 10_000;
        trace?.('clickhouse', `its name leads to a replica ${Math.round(lagMs)} ms behind`);
        clickhouse.replicaLagMs = lagMs;
        scheduler.at(forMs, undefined, () => {
          trace?.('clickhouse', 'its name leads to it again');
          clickhouse.replicaLagMs = undefined;
        });
        return true;
      },
    ],
    [
      'partitions_added',
      2,
      () => {
        const [kafka, topic] = [random.pick(clusters), random.pick(topics)];
        if (kafka.logsOf(topic).length === 0 || kafka.logs.length >= 6) return false;
        workload.write(kafka.addPartition(topic), random.between(1, 8), scheduler.nowMs);
        return true;
      },
    ],
    [
      'topic_recreated',
      1,
      () => {
        const [kafka, topic] = [random.pick(clusters), random.pick(topics)];
        if (kafka.logsOf(topic).length === 0) return false;
        recreateWhilePending(world, setting, kafka, topic);
        return true;
      },
    ],
    [
      'commits_expired',
      1,
      () => {
        fleet.expireCommits(random.pick(fleet.groups), truth);
        return true;
      },
    ],
    [
      'unclean_election',
      2,
      () => {
        const { kafka, log } = someLog();
        if (log === undefined || log.high === log.low) return false;
        const at = log.high - random.between(1, Math.min(30, log.high - log.low));
        // Other records are there before the reader asks again, or after it has found out.
        loseEnd(kafka, log, at, random.chance(0.5), world, setting);
        return true;
      },
    ],
    [
      'retention',
      3,
      () => {
        const { log } = someLog();
        if (log === undefined || log.high === log.low) return false;
        deleteBelow(log, log.low + random.between(1, log.high - log.low), world, truth);
        return true;
      },
    ],
    [
      'compaction',
      3,
      () => {
        const { log } = someLog();
        return log !== undefined && compact(log, world, truth);
      },
    ],
  ];
}

/** Records are deleted, read or not, where no record shows it: none follows, or nobody reads. */
function removals(world: SimWorld, setting: AdversitySetting): OfServer[] {
  const { later } = world.faults;
  const { clusters, fleet, truth } = setting;
  return [
    [
      'log_emptied',
      2,
      () => {
        const { logs } = later.pick(clusters);
        const some = logs.filter(({ high, low }) => high > low);
        if (some.length === 0) return false;
        const log = later.pick(some);
        deleteBelow(log, log.high, world, truth);
        return true;
      },
    ],
    [
      'deleted_while_stopped',
      1,
      () => {
        const group = later.pick(fleet.groups);
        fleet.switchOff(group, 5_000 + later.unit() * 15_000, () => {
          for (const log of group.kafka.logs) {
            if (log.high === log.low || later.chance(0.3)) continue;
            deleteBelow(log, log.low + later.between(1, log.high - log.low), world, truth);
          }
        });
        return true;
      },
    ],
  ];
}

/**
 * Puts back commits of any time in some logs, with their metadata: a tool does so once a group has stopped. Half the
 * time they were gone before, and the group went on by its ledger. Not where a chunk is pending, of which only the
 * commit tells.
 */
function restoreCommits(world: SimWorld, { fleet, truth }: AdversitySetting): boolean {
  const { scheduler, trace } = world;
  const random = world.faults.latest;
  const each = random.pick(fleet.groups);
  const { group, kafka, database } = each;
  const putBack = () =>
    fleet.switchOff(each, 5_000 + random.unit() * 15_000, () => {
      for (const log of kafka.logs) {
        const commits = group.historyOf(log);
        const now = group.commits.get(`${log.topic}/${log.partition}`);
        if (now === undefined || random.chance(0.3)) continue;
        const begunTo = Number(/"endOffset":(\d+)/.exec(now.metadata)?.[1] ?? now.offset);
        if ((database.ledgerEndOf(group.groupId, log) ?? -1) < begunTo) continue;
        const commit = random.pick(commits);
        trace?.(`${log.topic}/${log.partition}`, `its commit is ${commit.offset} again`);
        group.commit(log, commit);
      }
    });
  if (random.chance(0.5)) {
    putBack();
    return true;
  }
  fleet.expireCommits(each, truth);
  world.pending++;
  scheduler.at(60_000 + random.unit() * 30_000, undefined, () => {
    world.pending--;
    putBack();
  });
  return true;
}

/** Elects a leader that lacks records from an offset on. Other records come, now or later. */
function loseEnd(
  kafka: SimKafka,
  log: PartitionLog,
  at: number,
  isWrittenNow: boolean,
  world: SimWorld,
  { truth, workload }: AdversitySetting,
): void {
  const { scheduler, random, trace } = world;
  trace?.(`${log.topic}/${log.partition}`, `loses its records from ${at} on`);
  truth.remove(log, (offset) => offset >= at, 'unclean_election');
  const next = kafka.truncate(log, at);
  const write = () => {
    if (kafka.logOf(next.topic, next.partition) !== next) return;
    workload.write(next, random.between(1, 40), scheduler.nowMs);
  };
  if (isWrittenNow) write();
  kafka.wake();
  world.pending++;
  scheduler.at(random.unit() * 5_000, undefined, () => {
    world.pending--;
    write();
    kafka.wake();
  });
}

/** Deletes the oldest records, read or not. */
function deleteBelow(log: PartitionLog, below: number, { trace }: SimWorld, truth: Truth): void {
  trace?.(`${log.topic}/${log.partition}`, `is deleted below ${below}`);
  truth.remove(log, (offset) => offset < below, 'retention');
  log.deleteBelow(below);
}

function compact(log: PartitionLog, world: SimWorld, truth: Truth): boolean {
  const { random, trace } = world;
  const share = random.unit() * 0.7;
  const gone = log.compact((entry) => entry.kind === 'data' && random.chance(share));
  const offsets = new Set(gone.map(({ offset }) => offset));
  trace?.(`${log.topic}/${log.partition}`, `${gone.length} records are compacted away`);
  truth.remove(log, (offset) => offsets.has(offset), 'compaction');
  return gone.length > 0;
}
