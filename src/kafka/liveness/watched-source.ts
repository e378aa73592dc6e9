import type { Kafka } from 'kafkajs';
import type { Clock } from '../../base/clock.ts';
import { Failure, messageOf } from '../../base/failure.ts';
import { OperatorError } from '../../base/operator-error.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import type { Metrics } from '../../base/telemetry/metrics.ts';
import { minuteMs } from '../../base/time.ts';
import type { Config } from '../../config/schema.ts';
import type { Source, SourceHandler } from '../../source/source.ts';
import { topicsMissing } from '../client/kafka-topics.ts';
import { type Logins, loginsOf } from '../login/logins.ts';
import { Traffic, trafficOf } from '../traffic/traffic.ts';
import { ConsumerObserver, type ObservedPartition } from './consumer-observer.ts';
import { LagProbe, MissingTopicError, type PartitionLog } from './lag-probe.ts';
import { type PartitionState, StallDetector, type Verdict } from './stall-detector.ts';

type Client = Pick<Kafka, 'admin' | 'consumer'>;

type WatchedMetrics = Pick<
  Metrics,
  | 'rebalances'
  | 'consumerRestarts'
  | 'partitionsLeaderless'
  | 'progressAgeSeconds'
  | 'throttledSeconds'
> &
  Partial<Pick<Metrics, 'lagMessages'>>;
type Role = 'ingest' | 'assemble';

export interface WatchedSourceOptions {
  readonly config: Config;
  readonly kafka: Client;
  /** A client with short timeouts. */
  readonly probeKafka: Pick<Kafka, 'admin'>;
  readonly clock: Clock;
  /** Quotas and slow responses, as that client's connections see them. @default those of the client */
  readonly traffic?: Traffic;
  /** Time for which a partition has waited for ClickHouse; 0 while it does not. @default 0 */
  readonly storeWaitMs?: ((topic: string, partition: number) => number) | undefined;
  /** False where records are committed late: spans wait for the rest of their trace. @default true */
  readonly commitsSoon?: boolean;
  readonly log?: Logger | undefined;
  readonly metrics?: WatchedMetrics | undefined;
  /** @default {ingest} */
  readonly role?: Role;
  /** @default as in docs/explained/liveness.md */
  readonly limits?: { readonly unreadyMs: number; readonly stalledMs: number };
}

const TICK_MS = 1_000;
/** A fetch that has been on its way for less is not slow: it waits 250 ms for records. */
const SLOW_FETCH_MS = 3_000;
/** Time over which the share of throttling is shown, and the least share that is. */
const SHOWN_MS = minuteMs;
const LEAST_SHOWN = 0.05;
const PROBE_INTERVAL_MS = 5_000;
/** Interval while Kafka does not respond. Its return must be noticed before all records are read. */
const OUTAGE_PROBE_INTERVAL_MS = 1_000;
const PROBE_TIMEOUT_MS = 5_000;
const UNREADY_MS = 20_000;
const STALLED_MS = 40_000;
/** A topic that is deleted to be created again is missing for less. */
const MISSING_MS = 30_000;
/** Time after the longest join for the first read. */
const AFTER_JOIN_MS = 10_000;

/**
 * A Kafka source with a watchdog. Where records wait and consumption makes no progress, it reports a problem
 * and then rejects `done`. The process exits, and its supervisor restarts it. docs/explained/liveness.md
 * explains each check.
 */
export class WatchedSource implements Source {
  readonly groupId: string;
  readonly done: Promise<void>;
  readonly #options: WatchedSourceOptions;
  readonly #source: Source;
  readonly #observer: ConsumerObserver;
  readonly #probe: LagProbe;
  readonly #logins: Logins;
  readonly #traffic: Traffic;
  readonly #stalled = new Failure();
  #detector: StallDetector | undefined;
  #logs: ReadonlyMap<string, PartitionLog> = new Map();
  /** First known end of each log, which is where `start_from: latest` begins. */
  readonly #firstEnds = new Map<string, number>();
  #probedMs = Number.NEGATIVE_INFINITY;
  #respondedMs = Number.NEGATIVE_INFINITY;
  #isProbing = false;
  #outage: string | undefined;
  /** A topic that the brokers do not know, and since when. */
  #missing: { readonly topic: string; readonly sinceMs: number } | undefined;
  #verdict: Verdict = { problems: [], stalled: undefined, progressAgeMs: 0 };
  #counted = { joins: 0, crashes: 0, throttledMs: 0 };
  #fetchedBytes = 0;
  /** Assigned partitions that nobody leads, as `topic/partition`. */
  #leaderless: readonly string[] = [];
  /** Throttled time at each tick of the last minute, the oldest first. */
  #throttled: { readonly atMs: number; readonly throttledMs: number }[] = [];
  #stopTicking: () => void = () => undefined;

  /** @param open creates the source on the given client. */
  constructor(options: WatchedSourceOptions, open: (kafka: Client) => Source) {
    const { config, kafka, probeKafka, clock } = options;
    this.#options = options;
    this.#observer = new ConsumerObserver(clock);
    this.#source = open(this.#observer.observed(kafka));
    this.groupId = this.#source.groupId;
    this.#probe = new LagProbe({
      kafka: probeKafka,
      topics: config.kafka.topics,
      groupId: this.groupId,
      clock,
      timeoutMs: PROBE_TIMEOUT_MS,
      leavesOutLeaderless: true,
    });
    this.#logins = loginsOf(config.kafka);
    this.#traffic = options.traffic ?? trafficOf(kafka) ?? new Traffic(clock);
    this.done = Promise.race([this.#source.done, this.#stalled.promise, this.#logins.lost]);
    this.done.catch(() => undefined);
  }

  async start(handler: SourceHandler): Promise<void> {
    const { clock, config, limits } = this.#options;
    const stalledMs = Math.max(STALLED_MS, this.#observer.rebalanceTimeoutMs + AFTER_JOIN_MS);
    this.#detector = new StallDetector({
      ...(limits ?? { unreadyMs: UNREADY_MS, stalledMs }),
      commitEveryMs: config.ingest.flush_interval,
    });
    this.#stopTicking = clock.every(TICK_MS, () => this.#tick());
    try {
      await Promise.race([this.#source.start(handler), this.#stalled.promise]);
    } catch (error) {
      this.#endWatch();
      throw error;
    }
  }

  /** Reasons why consumption is unhealthy; empty when it is healthy. */
  problems(): readonly string[] {
    return this.#verdict.problems;
  }

  /** Notes for an operator on a healthy source. */
  notes(): readonly string[] {
    return [...this.#leaderlessNotes(), ...this.#quotaNotes()];
  }

  #leaderlessNotes(): string[] {
    if (this.#leaderless.length === 0) return [];
    const [names, verb] = [
      this.#leaderless.join(', '),
      this.#leaderless.length === 1 ? 'has' : 'have',
    ];
    return [
      `kafka: ${names} ${verb} no leader: all replicas are on brokers that are down. What is there waits, and the ` +
        'other partitions are read',
    ];
  }

  #quotaNotes(): string[] {
    const [first] = this.#throttled;
    const last = this.#throttled.at(-1);
    if (first === undefined || last === undefined || last.atMs === first.atMs) return [];
    const share = (last.throttledMs - first.throttledMs) / (last.atMs - first.atMs);
    if (share < LEAST_SHOWN) return [];
    const percent = Math.round(100 * share);
    return [
      `kafka: a quota of the brokers holds reading back for ${percent} % of the time (consumer_byte_rate, ` +
        'request_percentage); lag grows where more is written',
    ];
  }

  quiesce(): void {
    this.#endWatch();
    this.#source.quiesce();
  }

  async stop(): Promise<void> {
    this.#endWatch();
    await this.#source.stop();
  }

  #endWatch(): void {
    this.#stopTicking();
    this.#detector = undefined;
    this.#showLeaderless([]);
    this.#probe.close();
    this.#options.metrics?.lagMessages?.reset();
    this.#verdict = { problems: [], stalled: undefined, progressAgeMs: 0 };
  }

  #tick(): void {
    if (this.#detector === undefined) return;
    const elapsedMs = this.#options.clock.elapsedMs();
    const intervalMs = this.#outage === undefined ? PROBE_INTERVAL_MS : OUTAGE_PROBE_INTERVAL_MS;
    if (!this.#isProbing && elapsedMs - this.#probedMs >= intervalMs) void this.#check();
    const { isMember, joins, lastError, isFetching, partitions, fetchAgeMs } = this.#observer;
    const { fetchedBytes } = this.#traffic;
    const isReceiving = fetchAgeMs >= SLOW_FETCH_MS && fetchedBytes > this.#fetchedBytes;
    this.#fetchedBytes = fetchedBytes;
    this.#showLeaderless([...partitions.keys()].filter((name) => this.#probe.leaderless.has(name)));
    const throttledMs = this.#traffic.throttledMs();
    this.#throttled.push({ atMs: elapsedMs, throttledMs });
    if (elapsedMs - (this.#throttled[0]?.atMs ?? elapsedMs) > SHOWN_MS) this.#throttled.shift();
    const before = this.#verdict;
    const verdict = this.#detector.observe({
      elapsedMs,
      probedMs: this.#respondedMs,
      outage: this.#outage,
      isMember,
      joins,
      lastError,
      isFetching,
      throttledMs,
      isReceiving,
      partitions: [...partitions].map(([name, partition]) => this.#stateOf(name, partition)),
    });
    const missing = `kafka: ${this.#outage}: none of the topics is read until it does`;
    const problems = this.#missing === undefined ? verdict.problems : [missing];
    // A cause before what it causes.
    this.#verdict = { ...verdict, problems: [...this.#logins.problems(), ...problems] };
    this.#report(before, this.#verdict);
    if (this.#missing !== undefined && elapsedMs - this.#missing.sinceMs >= MISSING_MS) {
      const { role = 'ingest' } = this.#options;
      const setting = role === 'assemble' ? 'assemble.topics' : 'kafka.topics';
      this.#end(topicsMissing(setting, [this.#missing.topic]));
    }
  }

  async #check(): Promise<void> {
    const startedMs = this.#options.clock.elapsedMs();
    this.#probedMs = startedMs;
    this.#isProbing = true;
    try {
      this.#logs = await this.#probe.probe();
      this.#respondedMs = startedMs;
      this.#outage = undefined;
      this.#missing = undefined;
      for (const [name, { endOffset }] of this.#logs) {
        if (!this.#firstEnds.has(name)) this.#firstEnds.set(name, endOffset);
      }
      this.#measureLag();
    } catch (error) {
      this.#outage = messageOf(error);
      this.#missing =
        error instanceof MissingTopicError
          ? { topic: error.topic, sinceMs: this.#missing?.sinceMs ?? startedMs }
          : undefined;
    } finally {
      this.#isProbing = false;
    }
  }

  /** Measures the lag of assigned partitions by the brokers' offsets, whatever state the consumer is in. */
  #measureLag(): void {
    const gauge = this.#options.metrics?.lagMessages;
    if (gauge === undefined || this.#detector === undefined) return;
    gauge.reset();
    for (const [name, observed] of this.#observer.partitions) {
      const log = this.#logs.get(name);
      if (log === undefined) continue;
      const { position = 0, lowOffset, deliveredOffset } = this.#stateOf(name, observed);
      const committed = log.committedOffset ?? observed.startOffset ?? position;
      // Records that are skipped, such as transaction markers, need no commit.
      const isStored = deliveredOffset < committed;
      const reached = Math.max(committed, lowOffset, isStored ? position : 0);
      const lag = Math.max(0, log.endOffset - reached);
      gauge.set({ topic: observed.topic, partition: observed.partition }, lag);
    }
  }

  #stateOf(name: string, observed: ObservedPartition): PartitionState {
    const { topic, partition, position, deliveredOffset, committedOffset, isInWork } = observed;
    const { storeWaitMs, commitsSoon = true } = this.#options;
    const log = this.#logs.get(name);
    const lowOffset = log?.lowOffset ?? 0;
    const isEarliest = this.#options.config.kafka.start_from === 'earliest';
    const begin = isEarliest ? lowOffset : this.#firstEnds.get(name);
    return {
      ...{ name, isInWork },
      deliveredOffset: commitsSoon ? deliveredOffset : -1,
      endOffset: log?.endOffset,
      position: position ?? (log && Math.max(log.committedOffset ?? begin ?? 0, lowOffset)),
      lowOffset,
      committedOffset: Math.max(committedOffset, log?.committedOffset ?? 0),
      isPaused: this.#observer.isPaused(topic, partition),
      isPausedByHandler: this.#source.isPaused?.(topic, partition) ?? false,
      storeWaitMs: storeWaitMs?.(topic, partition) ?? 0,
    };
  }

  /** Counts partitions without a leader, and names each change once. */
  #showLeaderless(now: readonly string[]): void {
    const { log, metrics, role = 'ingest' } = this.#options;
    const before = this.#leaderless;
    this.#leaderless = now;
    metrics?.partitionsLeaderless.set({ role }, now.length);
    const lost = now.filter((name) => !before.includes(name));
    const led = before.filter((name) => !now.includes(name) && this.#logs.has(name));
    if (lost.length > 0) {
      log?.error(
        { partitions: lost },
        'partitions have no leader, as all replicas are on brokers that are down; the others are read on',
      );
    }
    if (led.length > 0) log?.info({ partitions: led }, 'partitions have a leader again');
  }

  #report(before: Verdict, now: Verdict): void {
    const { log, metrics, role = 'ingest' } = this.#options;
    const { joins, crashes } = this.#observer;
    metrics?.rebalances.inc(joins - this.#counted.joins);
    metrics?.consumerRestarts.inc(crashes - this.#counted.crashes);
    metrics?.progressAgeSeconds.set({ role }, now.progressAgeMs / 1000);
    const throttledMs = this.#traffic.throttledMs();
    const sinceMs = Math.max(0, throttledMs - this.#counted.throttledMs);
    metrics?.throttledSeconds.inc({ role }, sinceMs / 1000);
    this.#counted = { joins, crashes, throttledMs };
    if (before.problems.length === 0 && now.problems.length > 0) {
      log?.warn({ problems: now.problems }, 'Kafka consumption stalled');
    } else if (before.problems.length > 0 && now.problems.length === 0) {
      log?.info('Kafka consumption resumed');
    }
    if (now.stalled === undefined) return;
    log?.error({ problems: now.problems }, 'Kafka consumption still stalled; exiting');
    const what = `Cannot continue: Kafka consumption stalled: ${now.stalled}`;
    this.#end(
      new OperatorError('TAILMARK_STALLED', what, {
        hint: 'Nothing is lost or counted twice: have a supervisor restart the process. See docs/explained/liveness.md.',
      }),
    );
  }

  #end(error: OperatorError): void {
    this.#stopTicking();
    this.#detector = undefined;
    this.#stalled.reject(error);
  }
}
