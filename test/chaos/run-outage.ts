import { rmSync } from 'node:fs';
import { ChaosWorld } from './chaos-world.ts';
import { compareWithTruth } from './compare-with-truth.ts';
import { memoryOf } from './memory-of.ts';
import type { OutageSummary } from './outage-summary.ts';
import type { ChaosRunOptions } from './run-chaos.ts';
import { SteadyFeed } from './steady-feed.ts';

export interface OutageRunOptions
  extends Pick<ChaosRunOptions, 'seed' | 'dir' | 'signal' | 'say' | 'onFailure'> {
  readonly outageMs: number;
  readonly eventsPerSecond: number;
  readonly eventsPerMessage: number;
}

const partitions = 8;
/** Steady input before the outage. */
const warmUpMs = 30_000;
/** Normal lag in memory and in Kafka, beyond a flush interval. */
const normalLagMs = 3_000;
const memoryEveryMs = 60_000;
const catchUpDeadlineMs = 3_600_000;

/**
 * Runs one ingester with default settings and steady input while ClickHouse is away for a time. Measures the
 * memory and the time until the backlog is gone, and compares the stored with the published events.
 */
export async function runOutage(options: OutageRunOptions): Promise<OutageSummary> {
  const { dir, signal, seed, eventsPerSecond, eventsPerMessage } = options;
  const world = await ChaosWorld.open({ dir, partitions, signal, settings: {} });
  const killNow = () => world.fleet.killNow();
  process.once('exit', killNow);
  let feed: SteadyFeed | undefined;
  try {
    world.fleet.add();
    await world.fleet.settled();
    const { kafka } = world.config;
    feed = await SteadyFeed.start({ kafka, partitions, seed, eventsPerSecond, eventsPerMessage });
    return await new OutageRun(options, world, feed).run();
  } catch (error) {
    options.onFailure?.(world.fleet.logs());
    throw error;
  } finally {
    await feed?.stop().catch(() => undefined);
    await world.close();
    process.off('exit', killNow);
    rmSync(dir, { recursive: true, force: true });
  }
}

class OutageRun {
  readonly #options: OutageRunOptions;
  readonly #world: ChaosWorld;
  readonly #feed: SteadyFeed;
  readonly #memory: { when: string; bytes: number }[] = [];
  #peakBytes = 0;

  constructor(options: OutageRunOptions, world: ChaosWorld, feed: SteadyFeed) {
    this.#options = options;
    this.#world = world;
    this.#feed = feed;
  }

  async run(): Promise<OutageSummary> {
    const { seed, outageMs, eventsPerSecond } = this.#options;
    const world = this.#world;
    const feed = this.#feed;
    await this.#pass(warmUpMs);
    await this.#caughtUp('the input is being stored as it comes');
    this.#note('at the start of the outage');
    world.proxy.inject({ kind: 'refuse' });
    for (let passedMs = 0; passedMs < outageMs; ) {
      const stepMs = Math.min(memoryEveryMs, outageMs - passedMs);
      await this.#pass(stepMs);
      passedMs += stepMs;
      this.#note(`after ${passedMs / 1000} s`);
    }
    const storedBefore = (await world.ledger.consumed()) ?? 0;
    const backlogEvents = feed.events - storedBefore;
    const backMs = performance.now();
    world.proxy.heal();
    const storedAfter = await this.#caughtUp('the backlog is stored');
    const catchUpMs = performance.now() - backMs;
    this.#note('when caught up');
    await feed.stop();
    await world.until(
      'all is stored',
      async () => ((await world.ledger.consumed()) === feed.events ? true : undefined),
      { deadlineMs: 300_000 },
    );
    this.#note('at the end');
    for (const member of [...world.fleet.members]) await world.fleet.terminate(member);
    const comparison = await compareWithTruth(world, feed.truth(), feed.events, feed.ends);
    const isExact = comparison.differences.length === 0 && comparison.verify.ok;
    if (!isExact) this.#options.onFailure?.(world.fleet.logs());
    return {
      ...comparison,
      drains: world.fleet.drains,
      selfExits: world.fleet.selfExits,
      seed,
      outageMs,
      eventsPerSecond,
      publishedPerSecond: feed.perSecond,
      events: feed.events,
      backlogEvents,
      catchUpMs,
      catchUpEvents: storedAfter - storedBefore,
      memory: this.#memory,
      peakBytes: this.#peakBytes,
    };
  }

  /** Waits, and measures the memory every second. */
  async #pass(ms: number): Promise<void> {
    const endMs = performance.now() + ms;
    for (let leftMs = ms; leftMs > 0; leftMs = endMs - performance.now()) {
      await Promise.race([this.#world.pass(Math.min(1_000, leftMs)), this.#feedFailure()]);
      this.#look();
    }
  }

  /** Resolves with the stored events when the lag is normal. */
  #caughtUp(what: string): Promise<number> {
    const { ingest } = this.#world.config;
    const { eventsPerSecond } = this.#options;
    const baseline = (eventsPerSecond * (ingest.flush_interval + normalLagMs)) / 1000;
    let stored: number | undefined;
    return this.#world.until(
      what,
      async () => {
        this.#look();
        stored = await Promise.race([this.#world.ledger.consumed(), this.#feedFailure()]);
        return stored !== undefined && this.#feed.events - stored <= baseline ? stored : undefined;
      },
      { deadlineMs: catchUpDeadlineMs, seen: () => [stored, ...this.#world.fleet.tail()] },
    );
  }

  /** Rejects if the input has failed; never resolves. */
  #feedFailure(): Promise<never> {
    return this.#feed.done.then(() => new Promise<never>(() => undefined));
  }

  /** The member's memory; undefined in the moment between two lives. */
  #look(): number | undefined {
    const [member] = this.#world.fleet.members;
    if (member === undefined || member.isOver()) return undefined;
    const { bytes, peakBytes } = memoryOf(member.pid);
    this.#peakBytes = Math.max(this.#peakBytes, peakBytes);
    return bytes;
  }

  #note(when: string): void {
    const bytes = this.#look() ?? 0;
    this.#memory.push({ when, bytes });
    const published = `${this.#feed.events} events published`;
    this.#options.say(`${when}: ${Math.round(bytes / 2 ** 20)} MiB, ${published}`);
  }
}
