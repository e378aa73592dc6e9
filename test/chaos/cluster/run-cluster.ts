import { rmSync } from 'node:fs';
import type { ChaosSummary } from '../chaos-summary.ts';
import { runVerify } from '../compare-with-truth.ts';
import type { SelfExit } from '../member-fleet.ts';
import type { ClusterFault } from './cluster-faults.ts';
import { ClusterFeed } from './cluster-feed.ts';
import { CLIENT_ID, ClusterWorld, PARTITIONS } from './cluster-world.ts';

export interface ClusterRunOptions {
  readonly seed: string;
  readonly faults: readonly ClusterFault[];
  readonly eventsPerSecond: number;
  readonly dir: string;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
  readonly onFailure?: (logs: readonly { pid: number; text: string }[]) => void;
}

export interface FaultOutcome {
  readonly fault: ClusterFault | 'none';
  readonly tookMs: number;
  /** Longest time in which no chunk of any partition was stored. */
  readonly pauseMs: number;
}

export interface ClusterSummary {
  readonly seed: string;
  readonly eventsPerSecond: number;
  readonly outcomes: readonly FaultOutcome[];
  readonly records: number;
  readonly consumed: number;
  readonly verify: ChaosSummary['verify'];
  readonly selfExits: readonly SelfExit[];
  readonly listenerWarnings: number;
}

const CALM_MS = 20_000;
const AWAY_MS = 30_000;
const NO_TOKENS_MS = 60_000;
const QUOTA_BYTES = 200_000;
const QUOTA_MS = 90_000;
const MEMBERS = 3;
const MEMBER_STOPS = 18;
const BETWEEN_STOPS_MS = 4_000;
const CAUGHT_UP_MS = 600_000;

/** Runs ingesters on three brokers through faults, one after the other, and compares what is stored. */
export async function runCluster(options: ClusterRunOptions): Promise<ClusterSummary> {
  const { dir, signal, seed, eventsPerSecond } = options;
  const world = await ClusterWorld.open({ dir, signal });
  const killNow = () => world.fleet.killNow();
  process.once('exit', killNow);
  let feed: ClusterFeed | undefined;
  try {
    for (let member = 0; member < MEMBERS; member++) world.fleet.add();
    await world.fleet.settled();
    const { kafka } = world.config;
    feed = await ClusterFeed.start({ kafka, partitions: PARTITIONS, eventsPerSecond, seed });
    return await new ClusterRun(options, world, feed).run();
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

class ClusterRun {
  readonly #options: ClusterRunOptions;
  readonly #world: ClusterWorld;
  readonly #feed: ClusterFeed;
  readonly #outcomes: FaultOutcome[] = [];

  constructor(options: ClusterRunOptions, world: ClusterWorld, feed: ClusterFeed) {
    this.#options = options;
    this.#world = world;
    this.#feed = feed;
  }

  async run(): Promise<ClusterSummary> {
    const { faults, seed, eventsPerSecond, onFailure } = this.#options;
    const world = this.#world;
    await world.pass(CALM_MS);
    await this.#measure('none', () => world.pass(CALM_MS));
    for (const fault of faults) {
      await this.#measure(fault, () => this.#inflict(fault));
      await world.inSync();
      await this.#caughtUp();
    }
    await this.#feed.stop();
    const records = await world.records();
    await world.until(
      'all is stored',
      async () => ((await world.consumed()) >= records ? true : undefined),
      CAUGHT_UP_MS,
    );
    for (const member of [...world.fleet.members]) await world.fleet.terminate(member);
    const consumed = await world.consumed();
    const verify = await runVerify(world.env);
    if (!verify.ok || consumed !== records || world.fleet.selfExits.length > 0) {
      onFailure?.(world.fleet.logs());
    }
    return {
      ...{ seed, eventsPerSecond, outcomes: this.#outcomes, records, consumed, verify },
      selfExits: world.fleet.selfExits,
      listenerWarnings: world.fleet.everLogged('MaxListenersExceededWarning'),
    };
  }

  /** Measures the longest pause from the start of a fault until all that was written meanwhile is stored. */
  async #measure(fault: FaultOutcome['fault'], inflict: () => Promise<void>): Promise<void> {
    const { say } = this.#options;
    const startedMs = Date.now();
    say(`${fault}: begins`);
    await inflict();
    const tookMs = Date.now() - startedMs;
    await this.#world.pass(15_000);
    const pauseMs = await this.#longestPause(startedMs);
    say(`${fault}: took ${seconds(tookMs)}, longest pause ${seconds(pauseMs)}`);
    this.#outcomes.push({ fault, tookMs, pauseMs });
  }

  async #inflict(fault: ClusterFault): Promise<void> {
    const { cluster, fleet, token } = this.#world;
    switch (fault) {
      case 'rolling-restart':
        for (const node of cluster.nodes) {
          await node.stop();
          await node.start();
          await this.#world.inSync();
        }
        return;
      case 'kill-coordinator': {
        const node = cluster.node(await this.#world.coordinator());
        await node.kill();
        fleet.add();
        await this.#world.pass(AWAY_MS);
        await fleet.settled();
        await node.start();
        return;
      }
      case 'leaderless-topic': {
        const node = cluster.nodes[2];
        if (node === undefined) return;
        await this.#world.withAdmin(async ({ client }) => {
          const replicaAssignment = [{ partition: 0, replicas: [node.nodeId] }];
          await client.createTopics({ topics: [{ topic: 'of-others', replicaAssignment }] });
        });
        await node.stop();
        fleet.add();
        await fleet.settled();
        await this.#world.pass(AWAY_MS);
        await node.start();
        return;
      }
      case 'leaderless-own-partition':
        await this.#loseOwnPartition();
        return;
      case 'quota':
        await cluster.limitFetches(CLIENT_ID, QUOTA_BYTES);
        await this.#world.pass(QUOTA_MS);
        await cluster.limitFetches(CLIENT_ID, undefined);
        return;
      case 'rolling-members':
        await this.#rollMembers();
        return;
      case 'no-tokens':
        token.isIssuerAway = true;
        // The last token ends within 30 s.
        await this.#world.pass(AWAY_MS + NO_TOKENS_MS);
        token.isIssuerAway = false;
        token.renew();
    }
  }

  /** A broker with the only replica of one of our partitions is away, for longer than metadata is kept. */
  async #loseOwnPartition(): Promise<void> {
    const { cluster, fleet } = this.#world;
    const [partition, node] = [PARTITIONS - 1, cluster.nodes[2]];
    if (node === undefined) return;
    await this.#world.assign(partition, [node.nodeId], 1);
    await this.#world.pass(CALM_MS / 4);
    this.#feed.withheld = partition;
    await node.stop();
    fleet.add();
    await fleet.settled();
    await this.#world.pass(2 * AWAY_MS);
    await node.start();
    await this.#world.assign(partition, [node.nodeId, 1, 2], 2);
    this.#feed.withheld = undefined;
  }

  /** Orderly stops in a row, as in a deployment: the next comes when a process has started in its place. */
  async #rollMembers(): Promise<void> {
    const { fleet } = this.#world;
    for (let stop = 0; stop < MEMBER_STOPS; stop++) {
      const member = fleet.members[0];
      if (member === undefined) return;
      const gone = fleet.terminate(member);
      fleet.add();
      await Promise.all([gone, fleet.settled(), this.#world.pass(BETWEEN_STOPS_MS)]);
    }
  }

  /** By the ledger's own times, from the last chunk before the fault on. */
  async #longestPause(sinceMs: number): Promise<number> {
    const result = await this.#world.client.query({
      query: 'SELECT DISTINCT toUnixTimestamp64Milli(flushed_at) AS at FROM flushes ORDER BY at',
      format: 'JSONEachRow',
    });
    const times = (await result.json<{ at: string }>()).map(({ at }) => Number(at));
    const pauses = times
      .slice(1)
      .map((at, before) => (at < sinceMs ? 0 : at - (times[before] ?? at)));
    return Math.max(0, ...pauses);
  }

  /** Resolves when the lag is that of a second or two. */
  async #caughtUp(): Promise<void> {
    const { eventsPerSecond } = this.#options;
    await this.#world.until(
      'the backlog is stored',
      async () => {
        const [records, consumed] = await Promise.all([
          this.#world.records(),
          this.#world.consumed(),
        ]);
        return records - consumed <= 5 * eventsPerSecond ? true : undefined;
      },
      CAUGHT_UP_MS,
    );
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
