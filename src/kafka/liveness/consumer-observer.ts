import type { Consumer, Kafka } from 'kafkajs';
import type { Clock } from '../../base/clock.ts';
import { minuteMs } from '../../base/time.ts';
import { withOnJoin } from '../group/on-join.ts';

/** State of one assigned partition, from the consumer's own events. */
export interface ObservedPartition {
  readonly topic: string;
  readonly partition: number;
  /** The next offset to read; undefined until the partition has a start position in this generation. */
  position: number | undefined;
  /** Offset at which reading began; undefined until it is known. Records from it on are stored by commits only. */
  startOffset: number | undefined;
  /** First offset of the last batch that had records, which a commit must pass; -1 before one. */
  deliveredOffset: number;
  /** Offset that this process has committed; 0 before a commit. */
  committedOffset: number;
  /** A delivered batch has not been processed yet. */
  isInWork: boolean;
}

/** A consumer without fetch events for this long has stopped fetching. */
const FETCH_SILENCE_MS = 10_000;

type Client = Pick<Kafka, 'admin' | 'consumer'>;

/**
 * Listens to the events of a kafkajs consumer: joins, fetches, batches, commits, crashes. It does not change
 * the consumer. It also sees records that are filtered before a handler (aborted transactions, control
 * records).
 */
export class ConsumerObserver {
  readonly partitions = new Map<string, ObservedPartition>();
  isMember = false;
  /** The latest error; cleared by the next batch. */
  lastError: string | undefined;
  joins = 0;
  /** Number of consumer crashes, restarted or not. */
  crashes = 0;
  /** The longest that a join may take while other members are slow. */
  rebalanceTimeoutMs = 0;
  readonly #clock: Clock;
  /** Time of each broker's last fetch request or response. */
  readonly #fetchedMs = new Map<number, number>();
  /** Time at which each broker was sent the fetch that it has not responded to. */
  readonly #fetchingSinceMs = new Map<number, number>();
  #consumer: Consumer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the same client; its consumer is observed. */
  observed(kafka: Client): Client {
    const consumer: Client['consumer'] = (config) => {
      const { partitionAssigners, rebalanceTimeout = minuteMs } = config ?? {};
      this.rebalanceTimeoutMs = rebalanceTimeout;
      const observed = kafka.consumer({
        ...config,
        groupId: config?.groupId ?? '',
        ...(partitionAssigners && {
          partitionAssigners: partitionAssigners.map((assigner) =>
            withOnJoin(assigner, () => this.#leave()),
          ),
        }),
      });
      this.#listen(observed);
      this.#observeSeeks(observed);
      this.#consumer = observed;
      return observed;
    };
    return Object.create(kafka, { consumer: { value: consumer } });
  }

  /** True if every broker had a fetch request or response lately. */
  get isFetching(): boolean {
    const sinceMs = this.#clock.elapsedMs() - FETCH_SILENCE_MS;
    const times = [...this.#fetchedMs.values()];
    return times.length > 0 && times.every((ms) => ms >= sinceMs);
  }

  /** Age of the oldest fetch without a whole response; 0 without one. */
  get fetchAgeMs(): number {
    const nowMs = this.#clock.elapsedMs();
    return Math.max(0, ...[...this.#fetchingSinceMs.values()].map((ms) => nowMs - ms));
  }

  isPaused(topic: string, partition: number): boolean {
    const paused = this.#consumer?.paused().find((entry) => entry.topic === topic);
    return paused?.partitions.includes(partition) ?? false;
  }

  #listen(consumer: Consumer): void {
    const { events } = consumer;
    consumer.on(events.GROUP_JOIN, ({ payload }) => this.#joined(payload.memberAssignment));
    consumer.on(events.REBALANCING, () => this.#leave());
    consumer.on(events.STOP, () => this.#leave());
    consumer.on(events.CRASH, ({ payload }) => {
      this.crashes++;
      this.lastError = payload.error.message;
      this.#leave();
    });
    const fetched = ({ payload }: { payload: { nodeId: number } }) => {
      this.#fetchedMs.set(payload.nodeId, this.#clock.elapsedMs());
    };
    consumer.on(events.FETCH_START, (event) => {
      fetched(event);
      this.#fetchingSinceMs.set(event.payload.nodeId, this.#clock.elapsedMs());
    });
    consumer.on(events.FETCH, (event) => {
      fetched(event);
      this.#fetchingSinceMs.delete(event.payload.nodeId);
    });
    consumer.on(events.START_BATCH_PROCESS, ({ payload }) => {
      const found = this.partitions.get(`${payload.topic}/${payload.partition}`);
      if (found === undefined) return;
      found.isInWork = true;
      if (payload.batchSize > 0) found.deliveredOffset = Number(payload.firstOffset);
    });
    consumer.on(events.END_BATCH_PROCESS, ({ payload }) => {
      const found = this.partitions.get(`${payload.topic}/${payload.partition}`);
      if (found === undefined) return;
      found.isInWork = false;
      this.lastError = undefined;
      found.position = Number(payload.lastOffset) + 1;
    });
    consumer.on(events.COMMIT_OFFSETS, ({ payload }) => {
      for (const { topic, partitions } of payload.topics) {
        for (const { partition, offset } of partitions) {
          const found = this.partitions.get(`${topic}/${partition}`);
          if (found !== undefined) found.committedOffset = Number(offset);
        }
      }
    });
  }

  /** Before the first batch, the offset of a seek is the position. */
  #observeSeeks(consumer: Consumer): void {
    const { seek } = consumer;
    consumer.seek = (target) => {
      const found = this.partitions.get(`${target.topic}/${target.partition}`);
      if (found !== undefined) found.position = found.startOffset = Number(target.offset);
      seek(target);
    };
  }

  #joined(assignment: Readonly<Record<string, readonly number[]>>): void {
    this.joins++;
    this.isMember = true;
    this.#fetchedMs.clear();
    this.#fetchingSinceMs.clear();
    const before = new Map(this.partitions);
    this.partitions.clear();
    for (const [topic, partitions] of Object.entries(assignment)) {
      for (const partition of partitions) {
        const name = `${topic}/${partition}`;
        const { deliveredOffset = -1, committedOffset = 0 } = before.get(name) ?? {};
        const known = { topic, partition, deliveredOffset, committedOffset };
        const state = { position: undefined, startOffset: undefined, isInWork: false };
        this.partitions.set(name, { ...known, ...state });
      }
    }
  }

  /** Keeps the partitions: most likely they are assigned again, and their clocks continue. */
  #leave(): void {
    this.isMember = false;
  }
}
