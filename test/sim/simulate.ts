import { createLog, type Logger } from '../../src/base/telemetry/log.ts';
import { createMetrics } from '../../src/base/telemetry/metrics.ts';
import { SeededRandom } from '../base/seeded-random.ts';
import { adversity, MOST_SKEW_MS } from './adversity.ts';
import type { FaultKind } from './fault-kinds.ts';
import { FaultPlan } from './fault-plan.ts';
import { KafkaHost } from './kafka-host.ts';
import { findProblems } from './oracle.ts';
import type { PartitionLog } from './partition-log.ts';
import { Scheduler } from './scheduler.ts';
import { SimClickHouse } from './sim-clickhouse.ts';
import { SimFleet } from './sim-fleet.ts';
import { SimKafka } from './sim-kafka.ts';
import type { SimWorld } from './sim-world.ts';
import { Truth } from './truth.ts';
import { Workload } from './workload.ts';

/** A run of a seed. */
export interface SimResult {
  readonly seed: number;
  /** Problems; empty where everything is stored, once. */
  readonly problems: readonly string[];
  readonly eventCount: number;
  readonly virtualMs: number;
  readonly recordCount: number;
  readonly faults: ReadonlyMap<FaultKind, number>;
  /** Equal for equal runs, to the last event. */
  readonly fingerprint: number;
}

export interface SimOptions {
  /** True for a run without faults. */
  readonly isFaultless?: boolean;
  /** Receives lines of a verbose trace. */
  readonly trace?: (line: string) => void;
}

const EPOCH_MS = 1_790_000_000_000;
/**
 * Longest time from the last fault until everything is stored. It is extended by the time that clocks were
 * set back, since kafkajs looks for new partitions by the wall clock.
 */
const SETTLE_MS = 240_000;
const LOOK_MS = 500;
const SLOWEST_ANSWER_MS = 12_000;
const clockFaults: readonly FaultKind[] = ['clock_forward', 'clock_back', 'clock_edge'];

const metrics = createMetrics();
const silent = createLog({ level: 'silent' });

/** Runs a seed from its beginning to its verdict. */
export async function simulate(seed: number, options: SimOptions = {}): Promise<SimResult> {
  const random = new SeededRandom(seed);
  const faults = FaultPlan.ofSeed(seed, options.isFaultless);
  const scheduler = new Scheduler();
  const { trace: line } = options;
  const world: SimWorld = {
    scheduler,
    faults,
    random,
    epochMs: EPOCH_MS,
    pending: 0,
    isLive:
      !clockFaults.some((kind) => faults.has(kind)) &&
      (random.chance(0.4) || faults.has('clock_wrong')),
    trace:
      line === undefined
        ? undefined
        : (who, what) => line(`${(scheduler.nowMs / 1000).toFixed(3).padStart(8)} ${who} ${what}`),
  };
  world.trace?.('seed', `${seed}: ${faults.enabled.join(' ')}`);
  const clusterIds = faults.has('two_clusters') ? ['sim', 'other'] : ['sim'];
  const clusters = clusterIds.map(
    (clusterId) =>
      new SimKafka(world, clusterId, random.between(1, 2), random.pick([700, 1_200, 2_000])),
  );
  const tokensKept = faults.has('tokens_off')
    ? 0
    : faults.has('tokens_evicted')
      ? // Half of them are for what no query counts: chunks on their way, tokens that servers died with.
        random.between(16, 40)
      : 100_000;
  const profile = faults.has('old_server') ? 'old' : faults.has('profile_off') ? 'off' : 'on';
  const clickhouse = new SimClickHouse(world, tokensKept, profile);
  for (const kind of ['tokens_off', 'tokens_evicted', 'few_series', 'old_server'] as const) {
    if (faults.has(kind)) faults.note(kind);
  }
  if (profile === 'off') faults.note('profile_off');
  const truth = new Truth();
  const workload = new Workload(world, truth);
  const topics = random.chance(0.3) ? ['t1', 't2'] : ['t1'];
  for (const kafka of clusters) {
    for (const topic of topics) {
      kafka.createTopic(topic, random.between(1, topics.length > 1 ? 2 : 4));
    }
  }
  KafkaHost.enter({ clusters, world });
  const log = logOf(silent, world);
  const fleet = new SimFleet({ world, clusters, clickhouse, topics, log, metrics });
  const activeMs = random.between(12_000, 70_000);

  const recordCount = random.between(20, 160);
  planWrites(world, clusters, workload, activeMs, recordCount);
  adversity(world, { clusters, clickhouse, fleet, truth, workload, topics, activeMs });
  await fleet.begin();
  await scheduler.runTo(activeMs + 500);
  faults.isActive = false;
  while (world.pending > 0) await scheduler.runTo(scheduler.nowMs + LOOK_MS);
  clickhouse.slowUntilMs = 0;
  clickhouse.replicaLagMs = undefined;
  fleet.heal();
  // A pending chunk stays unfinished where nothing is read behind it: kafkajs skips entries that are no
  // records in silence.
  const wakeAll = () => {
    for (const kafka of clusters) kafka.wake();
  };
  for (const each of clusters.flatMap(({ logs }) => logs)) {
    const staysEmpty = faults.has('log_emptied') && each.entries.length === 0;
    if (each.high > 0 && each.entries.at(-1)?.kind !== 'data' && !staysEmpty) {
      workload.write(each, 1, scheduler.nowMs);
    }
  }
  wakeAll();
  if (faults.has('start_from_latest')) {
    for (const delayMs of [40_000, 50_000]) {
      scheduler.at(delayMs, undefined, () => {
        for (const each of clusters.flatMap(({ logs }) => logs)) {
          workload.write(each, 2, scheduler.nowMs);
        }
        wakeAll();
      });
    }
    await scheduler.runTo(scheduler.nowMs + 51_000);
  }
  const problems: string[] = [];
  const healedMs = scheduler.nowMs;
  const settleMs = SETTLE_MS + (faults.has('clock_back') ? 2 * MOST_SKEW_MS : 0);
  while (!fleet.isSettled(truth)) {
    if (scheduler.isExhausted || scheduler.nowMs > healedMs + settleMs) {
      problems.push(
        `not stored ${settleMs / 1000} s after the last fault: ${fleet.unsettled(truth)}`,
      );
      break;
    }
    await scheduler.runTo(scheduler.nowMs + LOOK_MS);
  }
  if (scheduler.isExhausted) problems.push('the run makes no headway: events without end');
  // Outstanding responses of a slow broker come first: processes that wait for them cannot end.
  await scheduler.runTo(healedMs + SLOWEST_ANSWER_MS);
  problems.push(...(await fleet.end()));
  problems.push(...findProblems({ clickhouse, fleet, truth, faults }));
  return {
    seed,
    problems,
    eventCount: scheduler.eventCount,
    virtualMs: scheduler.nowMs,
    recordCount: [...truth.records.values()].reduce((sum, records) => sum + records.length, 0),
    faults: faults.counts,
    fingerprint: scheduler.fingerprint,
  };
}

/** Schedules the writes of records over the run, each partition at its own pace. */
function planWrites(
  world: SimWorld,
  clusters: readonly SimKafka[],
  workload: Workload,
  activeMs: number,
  recordCount: number,
): void {
  const { random, scheduler, faults } = world;
  const logs = clusters.flatMap((kafka) => kafka.logs);
  const idle = faults.has('idle_partition') && logs.length > 1 ? logs.at(-1) : undefined;
  const favourite = faults.has('skewed_partitions') ? logs[0] : undefined;
  if (idle !== undefined) faults.note('idle_partition');
  if (favourite !== undefined) faults.note('skewed_partitions');
  const write = (log: PartitionLog, count: number) => {
    const { topic, partition, logId } = log;
    const kafka = clusters.find(({ clusterId }) => logId.startsWith(`${clusterId}/`));
    // The topic may have been recreated since.
    const now = kafka?.logOf(topic, partition);
    if (now === undefined) return;
    workload.write(now, count, scheduler.nowMs);
    kafka?.wake();
  };
  for (let left = recordCount; left > 0; ) {
    const count = Math.min(left, random.between(1, 12));
    let log = random.pick(logs);
    if (favourite !== undefined && random.chance(0.8)) log = favourite;
    if (log === idle && random.chance(0.9)) log = logs[0] as PartitionLog;
    // Some records are written before the first process starts.
    const atMs = random.chance(0.15) ? 0 : random.unit() * activeMs;
    scheduler.at(atMs, undefined, () => write(log, count));
    left -= count;
  }
}

/** The processes' log lines belong to the trace. */
function logOf(log: Logger, world: SimWorld): Logger {
  const { trace, scheduler } = world;
  if (trace === undefined) return log;
  const say = (level: string) => (about: unknown, message?: string) =>
    trace(scheduler.current?.name ?? '?', `[${level}] ${message ?? ''} ${JSON.stringify(about)}`);
  return Object.assign(Object.create(log), {
    info: say('info'),
    warn: say('warn'),
    error: say('error'),
    debug: () => undefined,
  });
}
