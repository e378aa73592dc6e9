import type { Random } from '../../src/generate/random.ts';
import type { Child } from '../e2e/kit/start-child.ts';
import type { ChaosWorld } from './chaos-world.ts';
import type { FaultKind } from './fault-kinds.ts';
import type { ProxyFault } from './proxy-fault.ts';

/** Context of a fault. */
export interface FaultContext {
  readonly world: ChaosWorld;
  /** Random numbers for all choices: victim, time, length, size. */
  readonly random: Random;
  /** Start of the cycle: all partitions have been stored since. */
  readonly sinceMs: number;
  /** Resolves with true when all messages of the cycle are stored: no request will follow. */
  readonly isOver: () => Promise<boolean>;
  readonly found: FaultFindings;
}

/** Results of the faults of a run. */
export interface FaultFindings {
  readonly takeoverMs: number[];
  zombiesResumed: number;
  requestsHit: number;
}

type Fault = (context: FaultContext) => Promise<void>;

const between = (random: Random, least: number, most: number) =>
  least + (random.uint32() % (most - least + 1));
const failedStep = 'a step of storing a chunk failed; retrying';

/** Each fault, from its start until nothing is broken any more. */
export const faults: Readonly<Record<FaultKind, Fault>> = {
  'kill-ingester': async ({ world, random, sinceMs, found }) => {
    const { member, partitions } = await pickOwner(world, random, sinceMs);
    const killedMs = Date.now();
    await world.fleet.kill(member);
    const flushed = await flushedElsewhere(world, member, partitions, killedMs);
    found.takeoverMs.push(...flushed.map((flushedMs) => flushedMs - killedMs));
  },

  'pause-ingester': async ({ world, random, sinceMs, found }) => {
    const { member, partitions } = await pickOwner(world, random, sinceMs);
    const pausedMs = Date.now();
    member.signal('SIGSTOP');
    // Another member can store its partitions only when its session has expired.
    await flushedElsewhere(world, member, partitions, pausedMs);
    await world.pass(between(random, 0, 2_000));
    member.signal('SIGCONT');
    found.zombiesResumed++;
  },

  'kill-clickhouse': async ({ world, random }) => {
    await world.servers.killClickHouse();
    await world.pass(between(random, 0, 3_000));
    await world.servers.startClickHouse();
  },

  'stall-clickhouse': async (context) => {
    const { world, random, isOver } = context;
    const failures = world.fleet.occurrences(failedStep);
    const isLong = random.chance(0.5);
    const afterBytes = between(random, 0, 8_000);
    await harm(context, { kind: 'stall', containing: 'chunk_rows', times: 100, afterBytes }, 1);
    if (isLong) {
      // Longer than the client's time-out: the stalled request arrives after the repeated one.
      await world.until('the stall is noticed', async () =>
        world.fleet.occurrences(failedStep) > failures || (await isOver()) ? true : undefined,
      );
    } else {
      await world.pass(between(random, 500, 3_000));
    }
    world.proxy.heal();
  },

  'swallow-answers': async (context) => {
    const { random } = context;
    const containing = random.chance(0.7) ? 'chunk_rows' : 'flushes';
    const times = between(random, 2, 8);
    await harm(context, { kind: 'swallow', containing, times }, times);
    context.world.proxy.heal();
  },

  'cut-connections': async (context) => {
    const { random } = context;
    const afterBytes = between(random, 0, 8_000);
    const times = between(random, 2, 8);
    await harm(context, { kind: 'cut', containing: 'chunk_rows', times, afterBytes }, times);
    context.world.proxy.heal();
  },

  'delay-connections': async (context) => {
    const { random } = context;
    const times = between(random, 10, 30);
    const delayMs = between(random, 20, 200);
    await harm(context, { kind: 'delay', containing: '', times, delayMs }, times);
    context.world.proxy.heal();
  },

  'kill-broker': async ({ world, random }) => {
    await world.servers.killKafka();
    await world.pass(between(random, 0, 2_000));
    await world.servers.startKafka();
  },

  'restart-broker': async ({ world, random }) => {
    await world.servers.stopKafka();
    await world.pass(between(random, 0, 2_000));
    await world.servers.startKafka();
  },

  'scale-1-4-2': async ({ world, random }) => {
    await scaleTo(world, 1, random);
    await scaleTo(world, 4, random);
    await scaleTo(world, 2, random);
  },

  'rolling-restart': async ({ world }) => {
    for (const member of [...world.fleet.members]) {
      await world.fleet.terminate(member);
      world.fleet.add();
      await world.fleet.settled();
    }
  },
};

interface Owner {
  readonly member: Child;
  readonly partitions: readonly number[];
}

/** Picks a member that has stored partitions in this cycle, and those that it stored last. */
async function pickOwner(world: ChaosWorld, random: Random, sinceMs: number): Promise<Owner> {
  const owners = await world.until('a member that owns partitions', async () => {
    const byPartition = await world.ledger.owners(sinceMs);
    if (byPartition === undefined) return undefined;
    const found = world.fleet.members.flatMap((member): Owner[] => {
      const partitions = [...byPartition.keys()].filter((n) => byPartition.get(n) === member.pid);
      return partitions.length > 0 ? [{ member, partitions }] : [];
    });
    return found.length > 0 ? found : undefined;
  });
  return owners[random.uint32() % owners.length] as Owner;
}

/**
 * Resolves with the times at which each of these partitions was stored by another process, once all have
 * been.
 */
function flushedElsewhere(
  world: ChaosWorld,
  member: Child,
  partitions: readonly number[],
  sinceMs: number,
): Promise<number[]> {
  return world.until('its partitions are stored elsewhere', async () => {
    const flushed = await world.ledger.flushedElsewhere(member.pid, sinceMs);
    const times = partitions.flatMap((partition) => flushed?.get(partition) ?? []);
    return times.length === partitions.length ? times : undefined;
  });
}

/** Injects a fault until it has hit so many requests, or no more come. */
async function harm(context: FaultContext, fault: ProxyFault, hits: number): Promise<void> {
  const { world, isOver, found } = context;
  world.proxy.inject(fault);
  await world.until(
    `${hits} requests suffer ${fault.kind}`,
    async () => (world.proxy.hits >= hits || (await isOver()) ? true : undefined),
    { seen: () => world.proxy.hits },
  );
  found.requestsHit += world.proxy.hits;
}

async function scaleTo(world: ChaosWorld, count: number, random: Random): Promise<void> {
  while (world.fleet.members.length < count) world.fleet.add();
  await world.fleet.settled();
  while (world.fleet.members.length > count) {
    const { members } = world.fleet;
    await world.fleet.terminate(members[random.uint32() % members.length] as Child);
  }
  await world.pass(between(random, 0, 1_500));
}
