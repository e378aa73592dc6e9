import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import { type Clock, systemClock, within } from '../base/clock.ts';
import { Failure, messageOf } from '../base/failure.ts';
import { invariant } from '../base/invariant.ts';
import { OperatorError } from '../base/operator-error.ts';
import { retry } from '../base/retry.ts';
import type { Logger } from '../base/telemetry/log.ts';
import type { Config } from '../config/schema.ts';
import {
  ClaimLostError,
  type ReadPosition,
  type Source,
  type SourceHandler,
} from '../source/source.ts';
import { BatchQueue } from './batch-queue.ts';
import { KafkaAdmin } from './client/kafka-admin.ts';
import { kafkaError } from './client/kafka-client.ts';
import { findPartitions } from './client/partition-lookup.ts';
import { withOnJoin } from './group/on-join.ts';
import { StoreMembership } from './group/store-membership.ts';
import { otherTopics, subscribedRoundRobin } from './group/subscribed-round-robin.ts';
import { KafkaClaim } from './kafka-claim.ts';
import { isOfOtherLeader, isOtherLog } from './log-of-claim.ts';
import { loginsOf } from './login/logins.ts';
import { commitOnce } from './patches/commit-without-batch.ts';
import { fetchedRecordsOf } from './protocol/fetch-response.ts';
import type { FetchedRecords } from './protocol/fetched-records.ts';

/** Partitions whose batches are handled concurrently, at most. */
const MAX_CONCURRENT_PARTITIONS = 64;
/** Waits before look-ups of logs are tried again. */
const RETRY_MS = { firstMs: 100, longestMs: 5_000 };
/**
 * A fetch in flight reports a deleted topic. After a longer gap, between fetches or from the look-up to the
 * first records, the log is checked.
 */
const FETCH_GAP_MS = 5_000;
/** The same failure of the consumer is logged so often at most: it may come ten times a second. */
const SAME_FAILURE_MS = 10_000;
/** Time to store what was read before claims end. At a join the others of the group wait meanwhile. */
const STORE_MS = 3_000;
/** Time to handle what was fetched, before that. */
const HANDLE_MS = 1_000;
/** Interval of heartbeats while a batch waits for the previous one. */
const KEEP_ALIVE_MS = 500;

export interface KafkaSourceOptions {
  readonly log?: Logger | undefined;
  /** A client whose consumers receive records in place (see createKafkaClient). */
  readonly kafka: Pick<Kafka, 'admin' | 'consumer'>;
  /** @default {systemClock} */
  readonly clock?: Clock;
  /** The database that events go to: a group must have one for each topic. @default not examined */
  readonly storeId?: string | undefined;
}

/**
 * Reads Kafka through a consumer group. It does four things in place of kafkajs:
 *
 * - **Start position.** kafkajs caches committed offsets over generations and overwrites a commit whose
 *   offset is out of range. So every assigned partition is paused until the handler has resolved its start
 *   position. If a fetch starts at another offset than expected, the position is resolved again.
 * - **Fencing.** kafkajs commits in its current generation and retries a failed commit in the next one. A
 *   late commit could succeed after the partition was reassigned. So commits go the way of a batch's own
 *   committer, which sends once and reports the result. Claims end as soon as a join begins, when kafkajs asks the
 *   assigner for its protocol.
 * - **Log identity.** A fetch names a topic, not a log. A fetch in flight reports a deleted topic. After a
 *   gap without fetches (a slow store, a suspended process), and where another leader wrote the records, the
 *   log is checked before records are used: it must be the same, and still have what was read.
 * - **Fetching.** kafkajs fetches when all batches are handled. A batch counts as handled once it is next in
 *   its partition's queue, so the broker works while records are counted.
 */
export class KafkaSource implements Source {
  readonly groupId: string;
  readonly #config: Config['kafka'];
  readonly #log: Logger | undefined;
  readonly #clock: Clock;
  readonly #consumer: Consumer;
  readonly #admin: KafkaAdmin;
  readonly #membership: StoreMembership | undefined;
  readonly #claims = new Map<string, KafkaClaim>();
  /** Time of each broker's last fetch response. */
  readonly #fetchedMs = new Map<number, number>();
  #handler: SourceHandler | undefined;
  /** The consumer's own cluster: known from its first join on. */
  #consumerCluster: object | undefined;
  #isQuiesced = false;
  /** The consumer's failure that was logged last. */
  #logged: { readonly message: string; readonly ms: number } | undefined;
  readonly #failure = new Failure();
  readonly done: Promise<void> = this.#failure.promise;

  constructor(config: Config['kafka'], options: KafkaSourceOptions) {
    const { log, kafka, clock = systemClock, storeId } = options;
    this.#config = config;
    this.#log = log;
    this.#clock = clock;
    this.groupId = config.group_id;
    const admin = new KafkaAdmin(kafka);
    this.#admin = admin;
    const { group_id: groupId, topics } = config;
    if (storeId !== undefined) {
      this.#membership = new StoreMembership({
        groupId,
        topics,
        storeId,
        admin: admin.client,
        clock,
        log,
      });
    }
    const assigner = subscribedRoundRobin((other) => otherTopics(admin, groupId, other, log), {
      userData: this.#membership?.userData,
      onLeftOut: (members) => this.#membership?.leftOut(members),
    });
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
      partitionAssigners: [
        withOnJoin(
          assigner,
          (consumers) => this.#onJoin(consumers),
          () => this.#storeBeforeJoin(),
        ),
      ],
    });
  }

  async start(handler: SourceHandler): Promise<void> {
    this.#handler = handler;
    try {
      for (const client of [this.#admin.client, this.#consumer]) {
        await loginsOf(this.#config).connect(client);
      }
      // Only matters for an offset out of range, until the start position is resolved again.
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

  isPaused(topic: string, partition: number): boolean {
    return this.#claims.get(`${topic}/${partition}`)?.isPaused ?? false;
  }

  quiesce(): void {
    this.#isQuiesced = true;
  }

  async stop(): Promise<void> {
    this.#isQuiesced = true;
    this.#membership?.stop();
    this.#loseAll();
    await this.#consumer.disconnect().catch(() => undefined);
    await this.#admin.close();
  }

  /** The claims of the generation before end here: what is committed from here on is of the next one. */
  #onJoin(cluster: object): void {
    this.#consumerCluster = cluster;
    this.#loseAll();
  }

  /** Handles an assignment by the group, before anything of it is fetched. */
  #onJoined(assignment: Readonly<Record<string, readonly number[]>>): void {
    this.#loseAll();
    this.#fetchedMs.clear();
    const claims = Object.entries(assignment).flatMap(([topic, partitions]) =>
      partitions.map((partition) => this.#claim(topic, partition)),
    );
    this.#consumer.pause(claims.map(partitionOf));
    void this.#startReading(claims);
    void this.#membership?.joined().then((refusal) => {
      if (refusal !== undefined) this.#failure.reject(refusal);
    });
  }

  /** Looks claims up, asks the handler for start positions, and starts reading. */
  async #startReading(claims: readonly KafkaClaim[]): Promise<void> {
    const waiting = () => claims.filter((claim) => !claim.isLost && claim.position === undefined);
    await retry(() => this.#resolvePositions(waiting()), {
      ...{ clock: this.#clock, ...RETRY_MS },
      isOver: () => this.#isQuiesced || waiting().length === 0,
      onError: (error, waitMs) =>
        this.#log?.warn(
          { err: messageOf(error), retry_ms: waitMs },
          'start positions could not be resolved; retrying',
        ),
    });
  }

  async #resolvePositions(claims: readonly KafkaClaim[]): Promise<void> {
    const askedMs = this.#clock.elapsedMs();
    const found = await findPartitions(this.#admin, this.groupId, claims);
    // All claims have an outcome before any of them is looked up again.
    const outcomes = await Promise.allSettled(
      claims.map(async (claim) => {
        const here = found.get(claim);
        if (here === undefined || this.#handler === undefined) return;
        const committed = claim.known(here.committed);
        const position = await this.#handler.onClaimed(claim, { ...here, committed });
        claim.logId = here.logId;
        claim.foundMs = askedMs;
        this.#readFrom(claim, position);
      }),
    );
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  }

  #readFrom(claim: KafkaClaim, { offset, knownTo, leaderEpoch }: ReadPosition): void {
    if (claim.isLost || this.#isQuiesced) return;
    claim.position = offset;
    claim.knownTo = knownTo;
    claim.leaderEpoch = leaderEpoch;
    this.#consumer.seek({ topic: claim.topic, partition: claim.partition, offset: String(offset) });
    this.#consumer.resume([partitionOf(claim)]);
  }

  #onFetched(nodeId: number): void {
    const nowMs = this.#clock.elapsedMs();
    const fetchedMs = this.#fetchedMs.get(nodeId) ?? nowMs;
    this.#fetchedMs.set(nodeId, nowMs);
    if (nowMs - fetchedMs <= FETCH_GAP_MS) return;
    for (const claim of this.#claims.values()) claim.isUnverified = true;
  }

  async #onBatch(payload: EachBatchPayload): Promise<void> {
    const { batch, heartbeat, resolveOffset } = payload;
    if (this.#isQuiesced) payload.pause();
    const claim = this.#claims.get(`${batch.topic}/${batch.partition}`);
    const handler = this.#handler;
    if (this.#isQuiesced || handler === undefined || batch.messages.length === 0) return;
    // A batch that was in flight when the partition was paused.
    if (claim?.refusal !== undefined) throw claim.refusal;
    if (claim === undefined || claim.isLost || claim.position === undefined) return;
    const requested: unknown = Reflect.get(batch, 'fetchedOffset');
    const fetchOffset = Number(requested ?? batch.firstOffset());
    if (fetchOffset !== claim.position && (await this.#isOutOfRange(claim, fetchOffset))) return;
    const records = fetchedRecordsOf(batch);
    records.passBefore(fetchOffset);
    // The store may have been slow to say where to begin, and no fetch was in flight meanwhile.
    const isFirst = claim.queue === undefined;
    if (isFirst && this.#clock.elapsedMs() - claim.foundMs > FETCH_GAP_MS)
      claim.isUnverified = true;
    // Another leader may have lacked some of the records that were read.
    if (isOfOtherLeader(records, claim)) claim.isUnverified = true;
    if (fetchOffset > claim.position && this.#readGapAgain(claim, records)) return;
    if (claim.isUnverified && (await this.#isAnotherLog(claim, heartbeat))) return;
    claim.queue ??= queueOf(claim, handler);
    const { queue } = claim;
    while (queue.isFull) {
      await Promise.race([queue.freed, this.#clock.sleep(KEEP_ALIVE_MS)]);
      if (queue.isFull && !claim.isLost) await heartbeat();
    }
    // Rejoins at once, and not at the next heartbeat.
    if (claim.refusal !== undefined) throw claim.refusal;
    if (this.#isQuiesced || claim.isLost) return;
    if (queue.failure !== undefined) throw queue.failure;
    const lastOffset = batch.lastOffset();
    const nextOffset = Number(lastOffset) + 1;
    queue.push({
      topic: batch.topic,
      partition: batch.partition,
      fetchOffset,
      records,
      nextOffset,
      leaderEpoch: records.lastEpoch,
      highWatermark: Number(batch.highWatermark),
    });
    claim.position = nextOffset;
    if (nextOffset >= claim.knownTo) {
      claim.knownTo = nextOffset;
      claim.leaderEpoch = records.lastEpoch;
    }
    resolveOffset(lastOffset);
  }

  /**
   * Checks whether the fetch moved because the offset was out of range: retention removed it, or the log was
   * truncated or recreated. If so, the start position is resolved again. Other gaps are aborted transactions
   * and control records, which kafkajs skips.
   */
  async #isOutOfRange(claim: KafkaClaim, fetchOffset: number): Promise<boolean> {
    const position = claim.position ?? 0;
    if (fetchOffset > position) {
      const here = (await findPartitions(this.#admin, this.groupId, [claim])).get(claim);
      if (here !== undefined && here.startOffset <= position) return false;
    }
    if (claim.isLost) return true;
    const { topic, partition } = claim;
    this.#log?.warn(
      { topic, partition, offset: position, fetched_offset: fetchOffset },
      'offset out of range; resolving a new start position',
    );
    await this.#storePending(claim);
    if (claim.isLost) return true;
    this.#replaceClaim(claim).succeed(claim);
    return true;
  }

  /**
   * Reads again from the claim's start, and returns true, where offsets were skipped that another leader may have
   * filled. kafkajs does not report the aborted transactions that it skips: the log may have been truncated since.
   */
  #readGapAgain(claim: KafkaClaim, { current }: FetchedRecords): boolean {
    const epoch = current?.leaderEpoch ?? -1;
    // No leader came before the first one.
    if (epoch <= 0 || epoch === claim.leaderEpoch || epoch === claim.gapEpoch) return false;
    const next = this.#replaceClaim(claim);
    next.succeed(claim);
    next.gapEpoch = epoch;
    return true;
  }

  /** Checks that the log is the one that was read; resolves a new start position if it is not. */
  async #isAnotherLog(claim: KafkaClaim, heartbeat: () => Promise<void>): Promise<boolean> {
    const { topic, partition } = claim;
    const sleep = async (ms: number) => {
      await this.#clock.sleep(ms);
      await heartbeat();
    };
    const isOther = await retry(() => isOtherLog(this.#admin, this.groupId, claim), {
      ...{ clock: { sleep }, ...RETRY_MS },
      isOver: () => claim.isLost || this.#isQuiesced,
      onError: (error, waitMs) =>
        this.#log?.warn(
          { topic, partition, err: messageOf(error), retry_ms: waitMs },
          'log offsets could not be read; retrying',
        ),
    });
    if (isOther === undefined || claim.isLost) return true;
    if (!isOther) {
      claim.isUnverified = false;
      return false;
    }
    this.#log?.warn(
      { topic, partition },
      'topic was recreated or truncated; resolving a new start position',
    );
    await this.#storePending(claim);
    if (!claim.isLost) this.#replaceClaim(claim);
    return true;
  }

  /** Replaces a claim by a new one on the same partition, in the same generation. */
  #replaceClaim(claim: KafkaClaim): KafkaClaim {
    claim.lose();
    const next = this.#claim(claim.topic, claim.partition);
    this.#consumer.pause([partitionOf(next)]);
    void this.#startReading([next]);
    return next;
  }

  #claim(topic: string, partition: number): KafkaClaim {
    const claim = new KafkaClaim(topic, partition, {
      send: (sender, offset, metadata) => this.#commit(sender, offset, metadata),
      lost: (lost) => this.#handler?.onLost(lost),
      pause: (paused) => this.#consumer.pause([partitionOf(paused)]),
      readAgain: (paused) => this.#readAgain(paused),
    });
    this.#claims.set(claim.name, claim);
    return claim;
  }

  #commit({ topic, partition }: KafkaClaim, offset: string, metadata: string): Promise<void> {
    const cluster = this.#consumerCluster;
    invariant(cluster !== undefined, 'a partition must be assigned before it is committed');
    return commitOnce(cluster, { topic, partition, offset, metadata });
  }

  #readAgain(claim: KafkaClaim): void {
    if (!this.#isQuiesced) this.#replaceClaim(claim).succeed(claim);
  }

  /** Lets the handler store what it has read, while this member may still commit it. */
  async #storeBeforeJoin(): Promise<void> {
    if (this.#isQuiesced || this.#claims.size === 0) return;
    await within(STORE_MS, this.#handler?.onRevoking?.([...this.#claims.values()]), this.#clock);
  }

  /** Lets the handler store what it has read of a claim. Its log does not have it any more, or may not. */
  async #storePending(claim: KafkaClaim): Promise<void> {
    if (this.#isQuiesced) return;
    await within(HANDLE_MS, claim.queue?.idle, this.#clock);
    await within(STORE_MS, this.#handler?.onRevoking?.([claim]), this.#clock);
  }

  #loseAll(): void {
    const claims = [...this.#claims.values()];
    this.#claims.clear();
    for (const claim of claims) claim.lose();
  }

  #onCrash(error: Error, restart: boolean): void {
    this.#loseAll();
    if (restart) {
      const { message } = error;
      const ms = this.#clock.elapsedMs();
      const last = this.#logged;
      if (message === last?.message && ms - last.ms < SAME_FAILURE_MS) return;
      this.#logged = { message, ms };
      this.#log?.warn({ err: message }, 'Kafka consumer failed; restarting it');
      return;
    }
    this.#log?.error({ err: error.message }, 'the Kafka consumer crashed');
    const failure = kafkaError(error, 'continue reading from Kafka', this.#config);
    this.#failure.reject(
      failure.code === 'TAILMARK_KAFKA_FAILED'
        ? new OperatorError('TAILMARK_STALLED', failure.message, {
            hint: 'The process exits so that its supervisor restarts it; nothing is lost or counted twice.',
            cause: error,
          })
        : failure,
    );
  }
}

function partitionOf(claim: KafkaClaim) {
  return { topic: claim.topic, partitions: [claim.partition] };
}

function queueOf(claim: KafkaClaim, handler: SourceHandler): BatchQueue {
  const keepAlive = async () => {
    if (claim.isLost) throw new ClaimLostError(claim.name);
  };
  return new BatchQueue((batch) => handler.onBatch(claim, batch, keepAlive));
}
