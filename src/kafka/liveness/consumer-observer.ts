import type { Consumer, Kafka, PartitionAssigner } from 'kafkajs';
import type { Clock } from '../../base/clock.ts';

/** What a consumer's own events tell of one assigned partition. */
export interface ObservedPartition {
  readonly topic: string;
  readonly partition: number;
  /** The next offset to be read, once the partition was placed since the group's last join. */
  position: number | undefined;
  /** First offset of the last batch with records in it; -1 before one. */
  handedOffset: number;
  /** What this process has committed; 0 before that. */
  committedOffset: number;
  isInWork: boolean;
}

/** A consumer that has not been heard asking for this long asks no more. */
const FETCH_SILENCE_MS = 10_000;

type Client = Pick<Kafka, 'admin' | 'consumer'>;

/**
 * Listens to what a kafkajs consumer says of itself: joins, fetches, batches, commits, crashes. It
 * changes nothing about the consumer, and hears also of what is filtered before it reaches a
 * handler (aborted transactions, control records).
 */
export class ConsumerObserver {
  readonly partitions = new Map<string, ObservedPartition>();
  isMember = false;
  /** What it last failed with, until a batch comes through. */
  lastError: string | undefined;
  /** Times the group has let us in. */
  joins = 0;
  /** Times the consumer has ended with an error, to be begun again or not. */
  crashes = 0;
  /** The longest that a join may take while others are slow. */
  rebalanceTimeoutMs = 0;
  readonly #clock: Clock;
  /** When each broker was last asked or has last answered. */
  readonly #fetchedMs = new Map<string, number>();
  #consumer: Consumer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The same client; its consumer is observed. */
  observed(kafka: Client): Client {
    return {
      admin: (config) => kafka.admin(config),
      consumer: (config) => {
        const { partitionAssigners, rebalanceTimeout = 60_000 } = config ?? {};
        this.rebalanceTimeoutMs = rebalanceTimeout;
        const consumer = kafka.consumer({
          ...config,
          groupId: config?.groupId ?? '',
          ...(partitionAssigners && {
            partitionAssigners: partitionAssigners.map((assigner) => this.#heard(assigner)),
          }),
        });
        this.#listen(consumer);
        this.#hearSeeks(consumer);
        this.#consumer = consumer;
        return consumer;
      },
    };
  }

  /** Whether every broker that it reads from has been asked, or has answered, lately. */
  get isFetching(): boolean {
    const sinceMs = this.#clock.elapsedMs() - FETCH_SILENCE_MS;
    const times = [...this.#fetchedMs.values()];
    return times.length > 0 && times.every((ms) => ms >= sinceMs);
  }

  isPaused(topic: string, partition: number): boolean {
    const paused = this.#consumer?.paused().find((entry) => entry.topic === topic);
    return paused?.partitions.includes(partition) ?? false;
  }

  /** kafkajs asks the assigner for its protocol when a join begins. */
  #heard(assigner: PartitionAssigner): PartitionAssigner {
    return (config) => {
      const inner = assigner(config);
      return {
        ...inner,
        protocol: (subscription) => {
          this.#leave();
          return inner.protocol(subscription);
        },
      };
    };
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
    const fetched = ({ payload }: { payload: { nodeId: string } }) => {
      this.#fetchedMs.set(payload.nodeId, this.#clock.elapsedMs());
    };
    consumer.on(events.FETCH_START, fetched);
    consumer.on(events.FETCH, fetched);
    consumer.on(events.START_BATCH_PROCESS, ({ payload }) => {
      const found = this.partitions.get(`${payload.topic}/${payload.partition}`);
      if (found === undefined) return;
      found.isInWork = true;
      if (payload.batchSize > 0) found.handedOffset = Number(payload.firstOffset);
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

  /** Before its first batch, where it was placed is where a partition stands. */
  #hearSeeks(consumer: Consumer): void {
    const { seek } = consumer;
    consumer.seek = (place) => {
      const found = this.partitions.get(`${place.topic}/${place.partition}`);
      if (found !== undefined) found.position = Number(place.offset);
      seek(place);
    };
  }

  #joined(assignment: Readonly<Record<string, readonly number[]>>): void {
    this.joins++;
    this.isMember = true;
    this.#fetchedMs.clear();
    const before = new Map(this.partitions);
    this.partitions.clear();
    for (const [topic, partitions] of Object.entries(assignment)) {
      for (const partition of partitions) {
        const name = `${topic}/${partition}`;
        const { handedOffset = -1, committedOffset = 0 } = before.get(name) ?? {};
        const known = { topic, partition, handedOffset, committedOffset };
        this.partitions.set(name, { ...known, position: undefined, isInWork: false });
      }
    }
  }

  /** Partitions are kept, as they are most likely ours again: their time goes on. */
  #leave(): void {
    this.isMember = false;
  }
}
