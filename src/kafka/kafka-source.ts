import kafkajs, {
  type Admin,
  type Consumer,
  type EachBatchPayload,
  type Kafka,
  type PartitionAssigner,
} from 'kafkajs';
import { type Clock, systemClock } from '../base/clock.ts';
import { exitCodes } from '../base/exit-codes.ts';
import { invariant } from '../base/invariant.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { Logger } from '../base/telemetry/log.ts';
import type { Config } from '../config/schema.ts';
import type { RecordBatch, Records } from '../source/record.ts';
import { ClaimLostError, type Source, type SourceHandler } from '../source/source.ts';
import { kafkaError } from './client/kafka-client.ts';
import { KafkaClaim } from './kafka-claim.ts';
import { findPartitions } from './partition-lookup.ts';
import { BatchQueue } from './prefetch-slot.ts';
import type { FetchPlaceholder } from './protocol/fetch-response.ts';

const { PartitionAssigners } = kafkajs;

/** Partitions whose batches are handled at once, at most. */
const MAX_CONCURRENT_PARTITIONS = 64;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;
/** A topic that goes is told to the fetch that is on its way, if one was so long ago or less. */
const UNHEARD_MS = 5_000;
/** How often the group hears from us while a batch waits for the one before. */
const KEEP_ALIVE_MS = 500;

export interface KafkaSourceOptions {
  readonly log?: Logger | undefined;
  /** A client whose consumers are given records in place (see createKafkaClient). */
  readonly kafka: Pick<Kafka, 'admin' | 'consumer'>;
  /** @default {systemClock} */
  readonly clock?: Clock;
}

/**
 * Kafka through a consumer group. kafkajs is kept from deciding what is ours to decide:
 *
 * - **Where a partition begins.** kafkajs caches committed offsets over generations, and where an
 *   offset is out of range it commits another over it. So every partition is paused when the group
 *   gives it to us, looked up, placed by the handler, and only then read. Where reading does not go
 *   on at the offset it should, the partition is placed anew.
 * - **Who may commit.** kafkajs commits on behalf of whichever generation it is in when the request
 *   leaves, and retries a failed commit in the next one, so a late commit could pass although the
 *   partition has been given away. So commits go through the batch's own committer, which sends
 *   once and tells what happened; and claims are lost as soon as a join begins (kafkajs asks the
 *   assigner for its protocol then), before kafkajs takes up the new generation.
 * - **Which log it is.** A fetch names a topic, not a log. One that is deleted is told to the fetch
 *   that is on its way; where none was for a while (a chunk that waits for its store, a process that
 *   was stopped), the handler is asked whether the log is the same, before what came is taken.
 * - **When to fetch.** kafkajs fetches when all that it has handed over is handled. So a batch counts
 *   as handled once it is next in its partition's lane: the broker works while we count.
 */
export class KafkaSource implements Source {
  readonly groupId: string;
  readonly done: Promise<void>;
  readonly #config: Config['kafka'];
  readonly #log: Logger | undefined;
  readonly #clock: Clock;
  readonly #consumer: Consumer;
  readonly #admin: Admin;
  readonly #claims = new Map<string, KafkaClaim>();
  readonly #queues = new WeakMap<KafkaClaim, BatchQueue>();
  /** When each broker has last answered a fetch. */
  readonly #heardMs = new Map<number, number>();
  #handler: SourceHandler | undefined;
  #quiet = false;
  #fail: (error: Error) => void = () => undefined;

  constructor(config: Config['kafka'], options: KafkaSourceOptions) {
    const { log, kafka, clock = systemClock } = options;
    this.#config = config;
    this.#log = log;
    this.#clock = clock;
    this.groupId = config.group_id;
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
      metadataMaxAge: 30_000,
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
    try {
      await this.#admin.connect();
      await this.#consumer.connect();
      // Of no consequence but for an offset out of range, before the partition is placed anew.
      await this.#consumer.subscribe({ topics: this.#config.topics, fromBeginning: true });
      this.#consumer.on('consumer.crash', ({ payload }) =>
        this.#onCrash(payload.error, payload.restart),
      );
      this.#consumer.on('consumer.group_join', ({ payload }) =>
        this.#onJoined(payload.memberAssignment),
      );
      this.#consumer.on('consumer.fetch', ({ payload }) => this.#onFetched(payload.nodeId));
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

  /** The group has given us partitions; called before anything of them is fetched. */
  #onJoined(assignment: Readonly<Record<string, readonly number[]>>): void {
    this.#loseAll();
    this.#heardMs.clear();
    const claims = Object.entries(assignment).flatMap(([topic, partitions]) =>
      partitions.map((partition) => this.#claim(topic, partition)),
    );
    this.#consumer.pause(claims.map(partitionOf));
    void this.#announce(claims);
  }

  /** Looks claims up, asks the handler where they begin, and has them read from there. */
  async #announce(claims: readonly KafkaClaim[]): Promise<void> {
    let waiting = claims;
    for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(retryMs * 2, LAST_RETRY_MS)) {
      waiting = waiting.filter((claim) => !claim.isLost && claim.position === undefined);
      if (waiting.length === 0 || this.#quiet) return;
      try {
        const found = await findPartitions(this.#admin, this.groupId, waiting);
        // One claim after the other is settled before any is looked up again.
        const outcomes = await Promise.allSettled(
          waiting.map(async (claim) => {
            const here = found.get(claim);
            if (here === undefined || this.#handler === undefined) return;
            const committed = claim.known(here.committed);
            const offset = await this.#handler.onClaimed(claim, { ...here, committed });
            this.#readFrom(claim, offset);
          }),
        );
        for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
      } catch (error) {
        this.#log?.warn(
          { err: error instanceof Error ? error.message : String(error), retry_ms: retryMs },
          'start positions could not be resolved; retrying',
        );
      }
      if (waiting.some((claim) => !claim.isLost && claim.position === undefined)) {
        await this.#clock.sleep(retryMs);
      }
    }
  }

  #readFrom(claim: KafkaClaim, offset: number): void {
    if (claim.isLost || this.#quiet) return;
    claim.position = offset;
    this.#consumer.seek({ topic: claim.topic, partition: claim.partition, offset: String(offset) });
    this.#consumer.resume([partitionOf(claim)]);
  }

  #onFetched(nodeId: number): void {
    const nowMs = this.#clock.elapsedMs();
    const heardMs = this.#heardMs.get(nodeId) ?? nowMs;
    this.#heardMs.set(nodeId, nowMs);
    if (nowMs - heardMs <= UNHEARD_MS) return;
    for (const claim of this.#claims.values()) claim.isInDoubt = true;
  }

  async #onBatch(payload: EachBatchPayload): Promise<void> {
    const { batch, heartbeat, resolveOffset } = payload;
    if (this.#quiet) payload.pause();
    const claim = this.#claims.get(`${batch.topic}/${batch.partition}`);
    const handler = this.#handler;
    if (this.#quiet || handler === undefined || batch.messages.length === 0) return;
    // A batch that was on its way when the partition was paused.
    if (claim?.refusal !== undefined) throw claim.refusal;
    if (claim === undefined || claim.isLost || claim.position === undefined) return;
    claim.sendBy(async (offset, metadata) => {
      const partitions = [{ partition: batch.partition, offset, metadata }];
      await payload.commitOffsetsIfNecessary({ topics: [{ topic: batch.topic, partitions }] });
    });
    const asked: unknown = Reflect.get(batch, 'fetchedOffset');
    const fetchOffset = Number(asked ?? batch.firstOffset());
    if (fetchOffset !== claim.position && (await this.#hasJumped(claim, fetchOffset))) return;
    if (claim.isInDoubt && (await this.#isAnotherLog(claim, heartbeat))) return;
    const lane = this.#queueOf(claim, handler);
    while (lane.isFull) {
      await Promise.race([lane.room, this.#clock.sleep(KEEP_ALIVE_MS)]);
      if (lane.isFull && !claim.isLost) await heartbeat();
    }
    // kafkajs joins anew on what the broker said. Left to the next heartbeat it may take long: it
    // sends none while the wall clock is behind the time of the last one.
    if (claim.refusal !== undefined) throw claim.refusal;
    if (this.#quiet || claim.isLost) return;
    if (lane.failure !== undefined) throw lane.failure;
    const lastOffset = batch.lastOffset();
    const nextOffset = Number(lastOffset) + 1;
    lane.push({
      topic: batch.topic,
      partition: batch.partition,
      fetchOffset,
      records: recordsOf(batch, fetchOffset),
      nextOffset,
      highWatermark: Number(batch.highWatermark),
    });
    claim.position = nextOffset;
    resolveOffset(lastOffset);
  }

  #queueOf(claim: KafkaClaim, handler: SourceHandler): BatchQueue {
    let lane = this.#queues.get(claim);
    if (lane === undefined) {
      const keepAlive = async () => {
        if (claim.isLost) throw new ClaimLostError(claim.name);
      };
      lane = new BatchQueue((batch: RecordBatch) => handler.onBatch(claim, batch, keepAlive));
      this.#queues.set(claim, lane);
    }
    return lane;
  }

  /**
   * Whether kafkajs has gone elsewhere because the offset was out of range: retention has overtaken
   * us, or the log was cut back or made anew. If so, the partition is placed anew. What lies between
   * is otherwise what kafkajs passes over in silence: aborted transactions, control records.
   */
  async #hasJumped(claim: KafkaClaim, fetchOffset: number): Promise<boolean> {
    const position = claim.position ?? 0;
    if (fetchOffset > position) {
      const found = await findPartitions(this.#admin, this.groupId, [claim]);
      if ((found.get(claim)?.startOffset ?? 0) <= position) return false;
    }
    if (claim.isLost) return true;
    const { topic, partition } = claim;
    this.#log?.warn(
      { topic, partition, offset: position, fetched_offset: fetchOffset },
      'offset out of range; resolving a new start position',
    );
    this.#placeAnew(claim).succeed(claim, fetchOffset < position);
    return true;
  }

  /** Settles a doubt; if the log is another, the partition is placed anew. */
  async #isAnotherLog(claim: KafkaClaim, heartbeat: () => Promise<void>): Promise<boolean> {
    const { topic, partition } = claim;
    for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(retryMs * 2, LAST_RETRY_MS)) {
      if (claim.isLost || this.#quiet) return true;
      try {
        const here = (await findPartitions(this.#admin, this.groupId, [claim])).get(claim);
        const isOther = here && (await this.#handler?.isAnotherLog?.(claim, here));
        if (claim.isLost) return true;
        if (isOther !== true) {
          claim.isInDoubt = false;
          return false;
        }
        this.#log?.warn(
          { topic, partition },
          'topic was recreated; resolving a new start position',
        );
        this.#placeAnew(claim);
        return true;
      } catch (error) {
        const err = error instanceof Error ? error.message : String(error);
        this.#log?.warn(
          { topic, partition, err, retry_ms: retryMs },
          'log offsets could not be read; retrying',
        );
      }
      await this.#clock.sleep(retryMs);
      await heartbeat();
    }
  }

  /** A claim takes the place of another on the same partition, of the same generation. */
  #placeAnew(claim: KafkaClaim): KafkaClaim {
    claim.lose();
    const next = this.#claim(claim.topic, claim.partition);
    this.#consumer.pause([partitionOf(next)]);
    void this.#announce([next]);
    return next;
  }

  #claim(topic: string, partition: number): KafkaClaim {
    const claim = new KafkaClaim(topic, partition, (lost) => this.#handler?.onLost(lost));
    this.#claims.set(claim.name, claim);
    return claim;
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
    for (const claim of claims) claim.lose();
  }

  #onCrash(error: Error, restart: boolean): void {
    this.#loseAll();
    if (restart) {
      this.#log?.warn({ err: error.message }, 'Kafka consumer failed; restarting it');
      return;
    }
    this.#log?.error({ err: error.message }, 'the Kafka consumer crashed');
    const failure = kafkaError(error, 'continue reading from Kafka', this.#config);
    this.#fail(
      failure.code === 'TAILMARK_KAFKA_FAILED'
        ? new OperatorError('TAILMARK_STALLED', failure.message, {
            hint: 'The process exits so that its supervisor restarts it; nothing is lost or counted twice.',
            exitCode: exitCodes.unavailable,
            cause: error,
          })
        : failure,
    );
  }
}

function partitionOf(claim: KafkaClaim) {
  return { topic: claim.topic, partitions: [claim.partition] };
}

/**
 * What kafkajs takes for messages are marks, of which one has the records. A broker gives the batch
 * in which the offset lies from its beginning, and does not tell which of what lies before was aborted.
 */
function recordsOf({ topic, messages }: EachBatchPayload['batch'], fetchOffset: number): Records {
  const marks = messages as unknown as readonly FetchPlaceholder[];
  const records = marks.find((mark) => mark.records !== undefined)?.records;
  invariant(records !== undefined, `a batch of ${topic} must have its records`);
  while (records.current !== undefined && records.current.offset < fetchOffset) records.advance();
  return records;
}
