import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../../src/generate/random.ts';
import type { ChaosSummary } from './chaos-summary.ts';
import { ChaosWorld } from './chaos-world.ts';
import { compareWithTruth } from './compare-with-truth.ts';
import { EventFeed } from './event-feed.ts';
import { type FaultKind, faultKinds } from './fault-kinds.ts';
import { type FaultFindings, faults } from './faults.ts';
import { openFeedTopic } from './feed-topic.ts';
import { planCycles } from './plan-cycles.ts';

export interface ChaosRunOptions {
  readonly seed: string;
  readonly cycles: number;
  /** @default all */
  readonly kinds?: readonly FaultKind[];
  readonly events: number;
  readonly eventsPerMessage: number;
  readonly partitions: number;
  readonly sessionTimeoutMs: number;
  /** A directory of the run, removed at the end. */
  readonly dir: string;
  readonly signal: AbortSignal;
  /** Receives the progress, a line at a time. */
  readonly say: (line: string) => void;
  /** Receives the logs of all ingesters after a failure, before they are gone. */
  readonly onFailure?: (logs: readonly { readonly pid: number; readonly text: string }[]) => void;
}

/** Members at the beginning and end of every cycle. */
const memberCount = 2;
const sliceEveryMs = 100;
/** Part of the rest of a cycle's share: there is always more to come. */
const sliceShare = 0.02;
const catchUpDeadlineMs = 300_000;

/**
 * Feeds real ingesters on real servers while they are killed, stopped, cut off and moved. Compares the stored
 * data at the end with the published events. The faults depend on the seed alone.
 */
export async function runChaos(options: ChaosRunOptions): Promise<ChaosSummary> {
  const { dir, partitions, sessionTimeoutMs, signal } = options;
  const world = await ChaosWorld.open({
    dir,
    partitions,
    signal,
    settings: {
      KAFKA_SESSION_TIMEOUT: `${sessionTimeoutMs}ms`,
      CLICKHOUSE_REQUEST_TIMEOUT: '5s',
      // Small chunks: some are being stored at any fault.
      INGEST_FLUSH_INTERVAL: '500ms',
      INGEST_FLUSH_MAX_EVENTS: '20000',
    },
  });
  const killNow = () => world.fleet.killNow();
  process.once('exit', killNow);
  try {
    return await new ChaosRun(options, world).run();
  } catch (error) {
    options.onFailure?.(world.fleet.logs());
    throw error;
  } finally {
    await world.close();
    process.off('exit', killNow);
    rmSync(dir, { recursive: true, force: true });
  }
}

class ChaosRun {
  readonly #options: ChaosRunOptions;
  readonly #world: ChaosWorld;
  readonly #found: FaultFindings = { takeoverMs: [], zombiesResumed: 0, requestsHit: 0 };

  constructor(options: ChaosRunOptions, world: ChaosWorld) {
    this.#options = options;
    this.#world = world;
  }

  async run(): Promise<ChaosSummary> {
    const { seed, cycles, kinds, events, eventsPerMessage, partitions, say } = this.#options;
    const { config, fleet } = this.#world;
    const startedMs = performance.now();
    const plan = planCycles(seed, cycles, kinds);
    const messages = Math.ceil(events / eventsPerMessage);
    const topic = await openFeedTopic(config.kafka, partitions);
    const { signal } = this.#options;
    const feed = new EventFeed(topic, {
      seed,
      events,
      eventsPerMessage,
      nowMs: Date.now(),
      signal,
    });
    try {
      for (let n = 0; n < memberCount; n++) fleet.add();
      await fleet.settled();
      let published = 0;
      for (const [n, kind] of plan.entries()) {
        const share = Math.round((messages * (n + 1)) / cycles) - published;
        published += share;
        const cycleMs = await this.#cycle(kind, share, feed, new Random(seed).split(`cycle ${n}`));
        const seconds = (cycleMs / 1000).toFixed(1);
        say(`cycle ${n + 1}/${cycles} ${kind}: ${seconds} s, ${feed.events} events stored`);
      }
      for (const member of [...fleet.members]) await fleet.terminate(member);
      return await this.#summary(plan, feed, performance.now() - startedMs);
    } finally {
      await topic.close();
    }
  }

  /** Runs one fault while a share of the messages is being published; then all of it must be stored. */
  async #cycle(kind: FaultKind, share: number, feed: EventFeed, random: Random): Promise<number> {
    const world = this.#world;
    const { partitions } = this.#options;
    const startedMs = performance.now();
    const sinceMs = Date.now();
    const hurry = new AbortController();
    let isFed = false;
    let feedFailure: unknown;
    const feeding = this.#trickle(feed, share, hurry.signal)
      .catch((error: unknown) => {
        feedFailure = error;
      })
      .finally(() => {
        isFed = true;
      });
    const isOver = async () => isFed && (await world.ledger.consumed()) === feed.events;
    try {
      await world.until('every partition is being stored', async () => {
        if (feedFailure !== undefined) throw feedFailure;
        return (await world.ledger.owners(sinceMs))?.size === partitions ? true : undefined;
      });
      await world.pass(random.uint32() % 700);
      await faults[kind]({ world, random, sinceMs, isOver, found: this.#found });
    } finally {
      hurry.abort();
      await feeding;
    }
    if (feedFailure !== undefined) throw feedFailure;
    await world.fleet.settled();
    let consumed: number | undefined;
    await world.until(
      `${feed.events} events are stored`,
      async () => {
        consumed = await world.ledger.consumed();
        return consumed !== undefined && consumed >= feed.events ? true : undefined;
      },
      { deadlineMs: catchUpDeadlineMs, seen: () => [consumed, ...world.fleet.tail()] },
    );
    return performance.now() - startedMs;
  }

  /** Publishes ever smaller parts of the rest, until the signal allows all of it. */
  async #trickle(feed: EventFeed, share: number, hurry: AbortSignal): Promise<void> {
    const { partitions, signal } = this.#options;
    for (let left = share; left > 0 && !signal.aborted; ) {
      const slice = hurry.aborted ? 1_000 : Math.max(partitions, Math.round(left * sliceShare));
      const count = Math.min(left, slice);
      await feed.publish(count);
      left -= count;
      await sleep(sliceEveryMs, undefined, { signal: hurry }).catch(() => undefined);
    }
  }

  async #summary(
    plan: readonly FaultKind[],
    feed: EventFeed,
    elapsedMs: number,
  ): Promise<ChaosSummary> {
    const { fleet } = this.#world;
    const comparison = await compareWithTruth(this.#world, feed.truth(), feed.events, feed.ends);
    const summary = {
      seed: this.#options.seed,
      cycles: Object.fromEntries(
        faultKinds.map((kind) => [kind, plan.filter((planned) => planned === kind).length]),
      ) as Record<FaultKind, number>,
      events: feed.events,
      messages: feed.ends.reduce((sum, end) => sum + end, 0),
      partitions: this.#options.partitions,
      ...comparison,
      sessionTimeoutMs: this.#options.sessionTimeoutMs,
      takeoverMs: this.#found.takeoverMs,
      drains: fleet.drains,
      inheritedIntents: fleet.everLogged('"pending_until"'),
      zombiesResumed: this.#found.zombiesResumed,
      requestsHit: this.#found.requestsHit,
      selfExits: fleet.selfExits,
      clickhouseDeaths: this.#world.servers.clickhouseDeaths,
      elapsedMs,
    };
    const isExact = summary.differences.length === 0 && summary.verify.ok;
    if (!isExact) this.#options.onFailure?.(fleet.logs());
    return summary;
  }
}
