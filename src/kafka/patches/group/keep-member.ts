import { type Clock, systemClock, within } from '../../../base/clock.ts';
import { retry } from '../../../base/retry.ts';
import { isAway, wasNeverSent } from '../../errors/away.ts';
import { type Patchable, patchOnce } from '../patch-once.ts';

/** Interval at which brokers are asked for a lost coordinator, and leaders for their partitions. */
const INTERVAL_MS = 250;
const SEARCH_MS = { firstMs: INTERVAL_MS, longestMs: INTERVAL_MS };
/** A cluster elects within 10 s of a broker's death. A join that takes longer fails, and is tried again. */
const LONGEST_JOIN_MS = 30_000;
/** Longest wait of a commit for a coordinator; its sender then tries again. */
const LONGEST_COMMIT_MS = 5_000;

interface Coordinator {
  isConnected(): boolean;
}

/** The used part of kafkajs' `ConsumerGroup` (src/consumer/consumerGroup.js). */
interface ConsumerGroup {
  readonly groupId: string;
  readonly generationId: number | null;
  readonly memberId: string | null;
  coordinator: unknown;
  readonly offsetManager: { coordinator: unknown } | null;
  readonly cluster: {
    refreshMetadata(): Promise<void>;
    findBroker(query: { nodeId: number }): Promise<Coordinator>;
    readonly brokerPool: {
      findConnectedBroker(): Promise<{
        findGroupCoordinator(query: {
          groupId: string;
          coordinatorType: number;
        }): Promise<{ readonly coordinator: { readonly nodeId: number } }>;
      }>;
    };
  };
  commitOffsets(offsets: unknown): Promise<void>;
  heartbeat(options: unknown): Promise<void>;
  joinAndSync(): Promise<void>;
  recoverFromFetch(error: unknown): Promise<void>;
}

/** The used part of kafkajs' `Runner` (src/consumer/runner.js). */
interface Runner {
  readonly consumerGroup: ConsumerGroup;
  stop(): Promise<void>;
}

const GROUP_TYPE = 0;

/** A broker's refusal, as kafkajs types it, of a request that was not sent. */
class UnsentError extends Error {
  readonly type: string;

  constructor(type: string, message: string) {
    super(message);
    this.type = type;
  }
}

/**
 * Keeps a consumer in its group while brokers come and go. kafkajs 2.2.4 retries for some seconds where the
 * group's coordinator or the leader of a partition is lost. Then it starts again as another member, and the group
 * waits until it gives up the first one. When a leader moves it joins again, which ends all claims. Java's
 * client looks for the coordinator, goes on in its generation, and asks for the leaders. So does this one.
 */
export function keepMember(
  group: Patchable<ConsumerGroup>,
  runner: Patchable<Runner>,
  clock: Pick<Clock, 'elapsedMs' | 'sleep'> = systemClock,
): void {
  const searches = new WeakMap<ConsumerGroup, Promise<void>>();
  const stopped = new WeakSet<ConsumerGroup>();
  const search = (of: ConsumerGroup): Promise<void> => {
    let searching = searches.get(of);
    if (searching === undefined) {
      searching = findCoordinator(of, clock, () => stopped.has(of)).finally(() =>
        searches.delete(of),
      );
      searches.set(of, searching);
    }
    return searching;
  };
  patchOnce(runner, 'keepMember', ['stop'], ({ stop }) => ({
    stop(this: Runner) {
      stopped.add(this.consumerGroup);
      return stop.call(this);
    },
  }));
  const methods = ['commitOffsets', 'heartbeat', 'joinAndSync', 'recoverFromFetch'] as const;
  patchOnce(group, 'keepMember', methods, (before) => ({
    async heartbeat(this: ConsumerGroup, options: unknown) {
      // The next coordinator gives each member a whole session.
      if (searches.has(this)) return;
      try {
        await before.heartbeat.call(this, options);
      } catch (error) {
        if (!isAway(error)) throw error;
        void search(this);
      }
    },
    async commitOffsets(this: ConsumerGroup, offsets: unknown) {
      const { generationId, memberId } = this;
      const searching = searches.get(this);
      if (searching !== undefined) await within(LONGEST_COMMIT_MS, searching, clock);
      if (this.generationId !== generationId || this.memberId !== memberId) {
        throw new UnsentError('ILLEGAL_GENERATION', 'the group has another generation by now');
      }
      if (searches.has(this)) throw unsent();
      try {
        await before.commitOffsets.call(this, offsets);
      } catch (error) {
        if (isAway(error)) void search(this);
        throw wasNeverSent(error) ? unsent() : error;
      }
    },
    async joinAndSync(this: ConsumerGroup) {
      const untilMs = clock.elapsedMs() + LONGEST_JOIN_MS;
      const join = async () => {
        await searches.get(this);
        await before.joinAndSync.call(this);
        return true;
      };
      await retry(join, {
        ...{ clock, ...SEARCH_MS },
        onError: (error) => {
          const isOver = stopped.has(this) || clock.elapsedMs() >= untilMs;
          if (isOver || !(isAway(error) || hasRetriedInVain(error))) throw error;
          if (isAway(error)) void search(this);
        },
      });
    },
    async recoverFromFetch(this: ConsumerGroup, error: unknown) {
      if (!isAway(error)) return before.recoverFromFetch.call(this, error);
      await clock.sleep(INTERVAL_MS);
      try {
        await this.cluster.refreshMetadata();
      } catch (failure) {
        if (!isAway(failure)) throw failure;
      }
    },
  }));
}

/** True of an error that kafkajs has retried in vain, such as rebalances that follow each other. */
function hasRetriedInVain(error: unknown): boolean {
  return error instanceof Error && error.name === 'KafkaJSNumberOfRetriesExceeded';
}

function unsent(): UnsentError {
  return new UnsentError('GROUP_COORDINATOR_NOT_AVAILABLE', 'the group has no coordinator now');
}

/** Asks for the coordinator until there is one that can be reached, or the consumer stops. */
async function findCoordinator(
  group: ConsumerGroup,
  clock: Pick<Clock, 'sleep'>,
  isStopped: () => boolean,
): Promise<void> {
  const { cluster, groupId } = group;
  const find = async () => {
    const broker = await cluster.brokerPool.findConnectedBroker();
    const asked = { groupId, coordinatorType: GROUP_TYPE };
    const { coordinator } = await broker.findGroupCoordinator(asked);
    group.coordinator = await cluster.findBroker(coordinator);
    if (group.offsetManager !== null) group.offsetManager.coordinator = group.coordinator;
    return true;
  };
  // After an error there is none yet, or it is the one that has died.
  await retry(find, { clock, ...SEARCH_MS, isOver: isStopped, onError: () => undefined });
}
