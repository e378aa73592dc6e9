import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { hourMs, minuteMs } from '../../src/base/time.ts';
import { type AnomalyEvent, anomalyEventSchema } from '../../src/contract/anomaly-event.ts';
import { createKafkaClient } from '../../src/kafka/client/kafka-client.ts';
import { followTopic } from '../../src/kafka/follow-topic.ts';
import { type Child, startChild } from '../e2e/kit/start-child.ts';
import { CalmFeed, models } from './calm-feed.ts';
import { ChaosWorld } from './chaos-world.ts';
import type { ChaosRunOptions } from './run-chaos.ts';
import type { SilenceFault } from './silence-faults.ts';
import { phaseLines, type SilencePhase, type SilenceSummary } from './silence-summary.ts';

export interface SilenceRunOptions
  extends Pick<ChaosRunOptions, 'seed' | 'dir' | 'signal' | 'say' | 'onFailure'> {
  readonly rounds: number;
  readonly faults: readonly SilenceFault[];
  /** Number of worlds that share the rounds: nearly all of a round is waiting. */
  readonly atOnce: number;
  /** Divisor of the length of all faults. */
  readonly shorter: number;
  readonly eventsPerSecond: number;
}

interface Fault {
  readonly name: SilenceFault;
  readonly what: string;
  readonly lastsMs: number;
  /** Time after its start at which the others get slow, if they do. */
  readonly slowFromMs: number | undefined;
  readonly begin: () => Promise<void> | void;
  readonly end: () => Promise<void> | void;
}

const partitions = 7;
const ingesters = 3;
/** Hours of past: a day and more distinguish a stop from an evening. */
const pastHours = { withStops: 26, withoutStops: 3 } as const;
const slowForMs = 75_000;
const settledMs = 45_000;

/**
 * Runs with the default settings: the pipeline fails, and the traffic is normal. docs/explained/chaos.md
 * describes the faults.
 */
export async function runSilence(options: SilenceRunOptions): Promise<SilenceSummary> {
  const { seed, rounds, atOnce, eventsPerSecond, dir, say } = options;
  const worlds = Array.from({ length: Math.min(atOnce, rounds) }, (_, n) => ({
    ...options,
    seed: `${seed}.${n + 1}`,
    dir: join(dir, String(n + 1)),
    numbers: Array.from({ length: rounds }, (_, i) => i + 1).filter((i) => (i - 1) % atOnce === n),
    say: (line: string) => say(`world ${n + 1}: ${line}`),
  }));
  try {
    const phases: SilencePhase[] = [];
    const ends = await Promise.allSettled(worlds.map((world) => runWorld(world, phases)));
    const broken = ends.flatMap((end, n) =>
      end.status === 'rejected' ? [`world ${n + 1}: ${end.reason}`] : [],
    );
    return { seed, rounds, eventsPerSecond, phases: phases.sort(byRound), broken };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function byRound(a: SilencePhase, b: SilencePhase): number {
  return a.round - b.round;
}

type WorldOptions = SilenceRunOptions & { readonly numbers: readonly number[] };

/** @param phases receives each phase as it ends */
async function runWorld(options: WorldOptions, phases: SilencePhase[]): Promise<void> {
  const { dir, signal, seed, faults, eventsPerSecond, say } = options;
  mkdirSync(dir, { recursive: true });
  const world = await ChaosWorld.open({ dir, partitions, signal, settings: {} });
  const killNow = () => world.fleet.killNow();
  process.once('exit', killNow);
  let feed: CalmFeed | undefined;
  let detector: Child | undefined;
  try {
    for (let n = 0; n < ingesters; n++) world.fleet.add();
    const { kafka } = world.config;
    const hasStops = faults.some((fault) => fault.endsWith('stopped'));
    const pastMs = pastHours[hasStops ? 'withStops' : 'withoutStops'] * hourMs;
    const past = await CalmFeed.open({ kafka, partitions, seed, eventsPerSecond }, pastMs);
    feed = past.feed;
    const isStored = async () =>
      (await world.ledger.consumed()) === past.events ? true : undefined;
    await world.until('the past is stored', isStored, { deadlineMs: 10 * minuteMs });
    detector = startChild(['run', '--roles', 'detect,serve'], {
      ...world.env,
      TAILMARK_CLICKHOUSE_URL: `http://127.0.0.1:${world.proxy.port}`,
      TAILMARK_HTTP_LISTEN: '127.0.0.1:0',
    });
    const running = detector;
    const isReady = async () => (running.err().includes('"detector ready"') ? true : undefined);
    await world.until('the detector has learnt the past', isReady, { deadlineMs: 5 * minuteMs });
    past.begin();
    say(`${past.events} events of the past are stored; the detector runs`);
    await new SilenceRun(options, world, feed, detector).run(phases);
  } catch (error) {
    options.onFailure?.([
      ...world.fleet.logs(),
      ...(detector === undefined ? [] : [{ pid: detector.pid, text: detector.err() }]),
    ]);
    throw error;
  } finally {
    await feed?.stop();
    detector?.signal('SIGKILL');
    await world.close();
    process.off('exit', killNow);
  }
}

class SilenceRun {
  readonly #options: WorldOptions;
  readonly #world: ChaosWorld;
  readonly #feed: CalmFeed;
  readonly #detector: Child;
  /** Emitted events, with their times. */
  readonly #events: { readonly event: AnomalyEvent; readonly atMs: number }[] = [];

  constructor(options: WorldOptions, world: ChaosWorld, feed: CalmFeed, detector: Child) {
    this.#options = options;
    this.#world = world;
    this.#feed = feed;
    this.#detector = detector;
  }

  async run(phases: SilencePhase[]): Promise<void> {
    const { numbers, say } = this.#options;
    const { kafka, alert } = this.#world.config;
    const followed = await followTopic(kafka, alert.topic, ({ value }) => {
      const event = anomalyEventSchema.parse(JSON.parse(String(value)));
      this.#events.push({ event, atMs: Date.now() });
      say(`${event.kind} ${event.state}: ${event.summary}`);
    });
    try {
      await this.#world.pass(minuteMs);
      for (const round of numbers) {
        for (const fault of this.#faults()) {
          if (!this.#options.faults.includes(fault.name)) continue;
          const phase = await this.#phase(round, fault);
          phases.push(phase);
          for (const line of phaseLines(phase)) say(line);
        }
      }
    } finally {
      await followed.stop();
    }
  }

  #faults(): Fault[] {
    const { fleet, proxy } = this.#world;
    const lasts = (ms: number) => ms / this.#options.shorter;
    return [
      {
        name: 'clickhouse-stopped',
        what: 'ClickHouse stopped',
        lastsMs: lasts(8 * minuteMs),
        slowFromMs: undefined,
        begin: () => proxy.inject({ kind: 'refuse' }),
        end: () => proxy.heal(),
      },
      {
        name: 'ingest-stopped',
        what: 'ingest stopped',
        lastsMs: lasts(8 * minuteMs),
        slowFromMs: undefined,
        begin: async () => {
          await Promise.all([...fleet.members].map((member) => fleet.terminate(member)));
        },
        end: () => {
          for (let n = 0; n < ingesters; n++) fleet.add();
        },
      },
      {
        name: 'ingester-paused',
        what: 'one ingester paused',
        lastsMs: Math.max(100_000, lasts(2 * minuteMs)),
        slowFromMs: 20_000,
        begin: () => fleet.members[0]?.signal('SIGSTOP'),
        end: () => fleet.members[0]?.signal('SIGCONT'),
      },
      {
        name: 'partition-old',
        what: 'one partition 5 h old',
        lastsMs: Math.max(130_000, lasts(3 * minuteMs)),
        slowFromMs: 50_000,
        begin: () => {
          this.#feed.lastPartitionBehindMs = 5 * hourMs;
        },
        end: () => {
          this.#feed.lastPartitionBehindMs = 0;
        },
      },
    ];
  }

  async #phase(round: number, fault: Fault): Promise<SilencePhase> {
    const { what, lastsMs, slowFromMs } = fault;
    const first = this.#events.length;
    const beganMs = Date.now();
    this.#options.say(`round ${round}: ${what}`);
    await fault.begin();
    let slowMs = Number.POSITIVE_INFINITY;
    if (slowFromMs !== undefined) {
      await this.#pass(slowFromMs);
      slowMs = Date.now();
      // Each time another model: the same one again within an hour would be a flap of the page before.
      this.#feed.slowModel = (this.#feed.slowModel + 1) % models;
      this.#feed.slowBy = 8;
      await this.#pass(Math.min(slowForMs, lastsMs - slowFromMs));
      this.#feed.slowBy = 1;
    }
    await this.#pass(Math.max(0, beganMs + lastsMs - Date.now()));
    const lag = { reported: await this.#reportedLag(), isTrue: await this.#trueLag() };
    await fault.end();
    const endedMs = Date.now();
    const events = () => this.#events.slice(first);
    const isOpen = () => {
      const open = new Set<string>();
      for (const { event } of this.#events) {
        if (event.state === 'resolved') open.delete(event.id);
        else open.add(event.id);
      }
      return open.size > 0;
    };
    await this.#pass(settledMs);
    const over = async () => (isOpen() ? undefined : true);
    const deadlineMs = 10 * minuteMs;
    await this.#world.until('all is resolved', over, { deadlineMs }).catch(() => undefined);
    const found = events();
    const isRegression = ({ event }: (typeof found)[number]) =>
      event.kind === 'tail_shift' && Date.parse(event.detected_at) >= slowMs;
    const opened = found.filter(({ event }) => event.state === 'opened');
    const pipeline = found.filter(({ event }) => event.kind === 'pipeline');
    const falsePages = opened.filter(
      (each) => each.event.kind !== 'pipeline' && !isRegression(each),
    );
    const warned = pipeline.find(({ event }) => event.state === 'opened');
    const resolved = pipeline.findLast(({ event }) => event.state === 'resolved');
    const paged = opened.find(isRegression);
    return {
      ...{ round, what, lastedMs: endedMs - beganMs, lag },
      falsePages: falsePages.map(
        ({ event }) => `${event.severity} ${event.kind}: ${event.summary}`,
      ),
      warnedAfterMs: warned && warned.atMs - beganMs,
      overAfterMs: resolved && resolved.atMs - endedMs,
      pagedAfterMs: paged && paged.atMs - slowMs,
      hasRegression: slowFromMs !== undefined,
      // One of three ingesters is missed for no longer than its session.
      isWarningDue: what !== 'one ingester paused' && lastsMs > 90_000,
    };
  }

  async #pass(ms: number): Promise<void> {
    await Promise.race([this.#world.pass(ms), this.#feed.done]);
  }

  /** Lag by the detector's metrics. */
  async #reportedLag(): Promise<number> {
    const url = /health and metrics at (http:\S+?)"/.exec(this.#detector.err())?.[1];
    const text = await (await fetch(`${url}/metrics`)).text();
    const values = text.matchAll(/^tailmark_detector_lag_messages\{[^}]*\} (\d+)$/gm);
    return [...values].reduce((sum, [, value]) => sum + Number(value), 0);
  }

  async #trueLag(): Promise<number> {
    const { kafka } = this.#world.config;
    const admin = createKafkaClient(kafka).admin();
    await admin.connect();
    const bounds = await admin.fetchTopicOffsets(kafka.topics[0] as string);
    await admin.disconnect();
    const ends = bounds.reduce((sum, { high }) => sum + Number(high), 0);
    return ends - ((await this.#world.ledger.consumed()) ?? 0);
  }
}
