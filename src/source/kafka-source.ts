import kafkajs, {
  type Admin,
  type Consumer,
  type EachBatchPayload,
  type PartitionAssigner,
} from 'kafkajs';
import { exitCodes } from '../base/exit-codes.ts';
import type { Logger } from '../base/log.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { Config } from '../config/schema.ts';
import { createKafkaClient, kafkaError } from './kafka-client.ts';
import { requireTopics } from './kafka-topics.ts';
import type { SourceRecord } from './record.ts';
import { RewindMemory } from './rewind-memory.ts';
import {
  type Claim,
  ClaimLostError,
  type CommittedOffset,
  type Source,
  type SourceHandler,
} from './source.ts';

const { PartitionAssigners } = kafkajs;

/** Broker answers that mean the partition is, or is about to be, somebody else's. */
const fencedTypes = new Set([
  'ILLEGAL_GENERATION',
  'UNKNOWN_MEMBER_ID',
  'REBALANCE_IN_PROGRESS',
  'FENCED_INSTANCE_ID',
]);

/** Partitions whose batches are handled at once, at most. */
const MAX_CONCURRENT_PARTITIONS = 64;

/**
 * Kafka through a consumer group.
 *
 * kafkajs commits on behalf of whichever generation it is in when the request leaves, and retries
 * a failed commit in the next one, so a late commit could pass under a generation that has given
 * the partition away. Hence two measures: commits go through the batch's own committer, which
 * sends once and tells what happened; and claims are lost as soon as a join begins (kafkajs asks
 * the assigner for its protocol then), before kafkajs takes up the new generation.
 */
export class KafkaSource implements Source {
  readonly groupId: string;
  readonly done: Promise<void>;
  readonly #config: Config['kafka'];
  readonly #log: Logger | undefined;
  readonly #consumer: Consumer;
  readonly #admin: Admin;
  readonly #claims = new Map<string, KafkaClaim>();
  readonly #rewinds = new RewindMemory();
  #handler: SourceHandler | undefined;
  #quiet = false;
  #fail: (error: Error) => void = () => undefined;

  constructor(config: Config['kafka'], log?: Logger) {
    this.#config = config;
    this.#log = log;
    this.groupId = config.group_id;
    const kafka = createKafkaClient(config, { log });
    this.#admin = kafka.admin();
    this.#consumer = kafka.consumer({
      groupId: config.group_id,
      sessionTimeout: config.session_timeout,
      rebalanceTimeout: Math.max(config.session_timeout, 30_000),
      heartbeatInterval: Math.min(1_000, Math.floor(config.session_timeout / 6)),
      maxBytesPerPartition: config.max_bytes_per_partition,
      maxBytes: Math.max(10 * 1024 * 1024, config.max_bytes_per_partition * 4),
      minBytes: 1,
      maxWaitTimeInMs: 250,
      allowAutoTopicCreation: false,
      partitionAssigners: [this.#assigner()],
    });
    this.done = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.done.catch(() => undefined);
  }

  async start(handler: SourceHandler): Promise<void> {
    this.#handler = handler;
    await requireTopics(this.#config, this.#config.topics);
    try {
      await this.#admin.connect();
      await this.#consumer.connect();
      await this.#consumer.subscribe({
        topics: this.#config.topics,
        fromBeginning: this.#config.start_from === 'earliest',
      });
      this.#consumer.on('consumer.crash', ({ payload }) =>
        this.#onCrash(payload.error, payload.restart),
      );
      await this.#consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: MAX_CONCURRENT_PARTITIONS,
        eachBatch: (payload) => this.#onBatch(payload),
      });
    } catch (error) {
      throw kafkaError(error, 'read from Kafka', this.#config);
    }
  }

  quiesce(): void {
    this.#quiet = true;
  }

  async stop(): Promise<void> {
    this.#quiet = true;
    this.#loseAll();
    await this.#consumer.disconnect().catch(() => undefined);
    await this.#admin.disconnect().catch(() => undefined);
  }

  async #onBatch(payload: EachBatchPayload): Promise<void> {
    const handler = this.#handler;
    const { batch, heartbeat, resolveOffset, commitOffsetsIfNecessary } = payload;
    if (this.#quiet) payload.pause();
    if (this.#quiet || handler === undefined || batch.messages.length === 0) return;
    const asked: unknown = Reflect.get(batch, 'fetchedOffset');
    const askedOffset = Number(asked ?? batch.firstOffset());
    const claim = this.#claim(
      batch.topic,
      batch.partition,
      askedOffset,
      async (offset, metadata) => {
        const partitions = [{ partition: batch.partition, offset, metadata }];
        await commitOffsetsIfNecessary({ topics: [{ topic: batch.topic, partitions }] });
      },
    );
    const records: SourceRecord[] = new Array(batch.messages.length);
    for (let i = 0; i < records.length; i++) {
      const message = batch.messages[i];
      if (message === undefined) continue;
      records[i] = {
        offset: Number(message.offset),
        timestampMs: Number(message.timestamp),
        value: message.value,
      };
    }
    const lastOffset = batch.lastOffset();
    const given = {
      topic: batch.topic,
      partition: batch.partition,
      fetchOffset: this.#rewinds.beginOf(`${batch.topic}/${batch.partition}`, askedOffset),
      records,
      nextOffset: Number(lastOffset) + 1,
      highWatermark: Number(batch.highWatermark),
    };
    try {
      await handler.onBatch(claim, given, async () => {
        if (claim.isLost) throw new ClaimLostError(`${batch.topic}/${batch.partition}`);
        await heartbeat();
      });
    } catch (error) {
      // The group finds out by its next heartbeat, and joins anew.
      if (error instanceof ClaimLostError) return;
      throw error;
    }
    if (this.#quiet || claim.isLost) return;
    resolveOffset(lastOffset);
  }

  /** The partition's claim; a new one, whose first batch was asked for at `from`, if need be. */
  #claim(topic: string, partition: number, from: number, send: ClaimPorts['send']): KafkaClaim {
    const name = `${topic}/${partition}`;
    let claim = this.#claims.get(name);
    if (claim === undefined || claim.isLost) {
      claim = new KafkaClaim(topic, partition, {
        send,
        committed: () => this.#committed(topic, partition),
        seek: (offset) => {
          this.#rewinds.note(name, Number(offset), from);
          this.#consumer.seek({ topic, partition, offset });
        },
        onLost: (lost) => this.#handler?.onLost(lost),
      });
      this.#claims.set(name, claim);
    }
    return claim;
  }

  async #committed(topic: string, partition: number): Promise<CommittedOffset> {
    const groups = await this.#admin.fetchOffsets({ groupId: this.groupId, topics: [topic] });
    const found = groups[0]?.partitions.find((entry) => entry.partition === partition);
    const offset = Number(found?.offset ?? -1);
    return { offset: offset < 0 ? undefined : offset, metadata: found?.metadata ?? '' };
  }

  /** Round robin, and a bell that rings when a join begins. */
  #assigner(): PartitionAssigner {
    return (config) => {
      const roundRobin = PartitionAssigners.roundRobin(config);
      return {
        ...roundRobin,
        protocol: (subscription) => {
          this.#loseAll();
          return roundRobin.protocol(subscription);
        },
      };
    };
  }

  #loseAll(): void {
    const claims = [...this.#claims.values()];
    this.#claims.clear();
    this.#rewinds.clear();
    for (const claim of claims) claim.lose();
  }

  #onCrash(error: Error, restart: boolean): void {
    this.#loseAll();
    if (restart) {
      this.#log?.warn({ err: error.message }, 'reading from Kafka failed and is begun again');
      return;
    }
    this.#log?.error({ err: error.message }, 'the Kafka consumer crashed');
    const failure = kafkaError(error, 'go on reading from Kafka', this.#config);
    this.#fail(
      failure.code === 'TAILMARK_KAFKA_FAILED'
        ? new OperatorError('TAILMARK_STALLED', failure.message, {
            hint: 'The process ends so that its supervisor starts it anew; nothing is lost or doubled.',
            exitCode: exitCodes.unavailable,
            cause: error,
          })
        : failure,
    );
  }
}

/** What a claim does through the source that gave it. */
interface ClaimPorts {
  readonly send: (offset: string, metadata: string) => Promise<void>;
  readonly committed: () => Promise<CommittedOffset>;
  readonly seek: (offset: string) => void;
  readonly onLost: (claim: Claim) => void;
}

class KafkaClaim implements Claim {
  readonly topic: string;
  readonly partition: number;
  readonly #ports: ClaimPorts;
  #lost = false;

  constructor(topic: string, partition: number, ports: ClaimPorts) {
    this.topic = topic;
    this.partition = partition;
    this.#ports = ports;
  }

  get isLost(): boolean {
    return this.#lost;
  }

  lose(): void {
    if (this.#lost) return;
    this.#lost = true;
    this.#ports.onLost(this);
  }

  committed(): Promise<CommittedOffset> {
    return this.#ports.committed();
  }

  async commit(offset: number, metadata: string): Promise<void> {
    if (this.#lost) throw new ClaimLostError(`${this.topic}/${this.partition}`);
    try {
      await this.#ports.send(String(offset), metadata);
    } catch (error) {
      const type = error instanceof Error && 'type' in error ? String(error.type) : '';
      if (!fencedTypes.has(type)) throw error;
      this.lose();
      throw new ClaimLostError(`${this.topic}/${this.partition}`, { cause: error });
    }
  }

  rewind(offset: number): void {
    if (this.#lost) return;
    this.#ports.seek(String(offset));
    this.lose();
  }
}
