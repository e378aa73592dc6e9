import { hostname } from 'node:os';
import { threadId } from 'node:worker_threads';
import { type Clock, systemClock } from '../base/clock.ts';
import { Failure } from '../base/failure.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { Logger } from '../base/telemetry/log.ts';
import type { Metrics } from '../base/telemetry/metrics.ts';
import type { Config } from '../config/schema.ts';
import type { Publisher } from '../kafka/client/publisher.ts';
import type { SchemaRegistry } from '../registry/schema-registry.ts';
import { ChunkBlock } from '../sink/chunks/chunk-block.ts';
import type { ChunkStore } from '../sink/chunks/chunk-store.ts';
import { LastingError } from '../sink/client/lasting-error.ts';
import { hasTopicId } from '../source/log-id.ts';
import type { RecordBatch } from '../source/record.ts';
import {
  type Claim,
  ClaimLostError,
  claimLabels,
  claimName,
  type FoundPartition,
  type ReadPosition,
  type Source,
  type SourceHandler,
} from '../source/source.ts';
import { openRegistry } from '../topics/open-registry.ts';
import { TopicFormats } from '../topics/topic-formats.ts';
import { OpenMemory } from './chunk/open-memory.ts';
import { LateShare } from './late-share.ts';
import { DeadLetterBudget } from './letters/dead-letter-budget.ts';
import { RejectWarnings } from './letters/reject-warnings.ts';
import { type PartitionContext, PartitionIngest } from './partition-ingest.ts';
import { PausedPartitions } from './paused-partitions.ts';
import {
  readBefore,
  resolveStartPosition,
  type StartPosition,
  type UnstoredLog,
} from './start-position.ts';

export interface IngesterOptions {
  readonly config: Config;
  readonly source: Source;
  readonly store: ChunkStore;
  readonly publisher: Publisher | undefined;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** @default {systemClock} */
  readonly clock?: Clock;
  readonly storeId?: PartitionContext['storeId'];
  readonly permit?: PartitionContext['permit'];
  readonly clockAheadMs?: PartitionContext['clockAheadMs'];
}

/** Name of this process, or of this thread, in the ledger. */
export function instanceName(): string {
  const thread = threadId === 0 ? '' : `/${threadId}`;
  return `${hostname()}/${process.pid}${thread}`;
}

/** Longest time to store a chunk before the process is not ready. */
const STORING_MS_TOLERATED = 20_000;

/**
 * The ingest role: reads a source, fills a chunk per claimed partition, and stores chunks when they are due.
 * A PartitionIngest does all work of its partition.
 */
export class Ingester implements SourceHandler {
  readonly #source: Source;
  readonly #context: PartitionContext & {
    readonly lateShare: LateShare;
    readonly paused: PausedPartitions;
  };
  readonly #partitions = new Map<Claim, PartitionIngest>();
  /** Logs of lost partitions as far as they were known and not stored, by `topic/partition`. */
  readonly #unstored = new Map<string, UnstoredLog>();
  readonly #failure = new Failure();
  readonly #schemas: SchemaRegistry | undefined;
  /** The broker has no topic ids: logged once. */
  #lacksTopicIds = false;
  /** Of start positions, over all partitions. */
  readonly #lasting: LastingError;
  /** Rejects when a chunk cannot be stored and a retry does not help. */
  readonly failed = this.#failure.promise;
  #stopTicking: () => void = () => undefined;

  constructor({ source, clock = systemClock, ...options }: IngesterOptions) {
    const { config, log, metrics } = options;
    this.#source = source;
    const requests = metrics.schemaRequests;
    this.#schemas = openRegistry(config, { clock, log, requests, waitsForNew: true });
    this.#lasting = new LastingError(config.clickhouse, 'find out where to begin');
    this.#context = {
      ...options,
      clock,
      groupId: source.groupId,
      block: new ChunkBlock(),
      memory: new OpenMemory(),
      formats: TopicFormats.open(config, this.#schemas),
      deadLetterSuffix: config.kafka.dead_letter_suffix,
      letterBudget: new DeadLetterBudget(config.limits.max_dead_letters_per_second),
      guardMs: config.kafka.session_timeout / 2,
      onFailure: (error) => this.#failure.reject(error),
      lateShare: new LateShare(metrics, log),
      rejectWarnings: new RejectWarnings(log),
      paused: new PausedPartitions(metrics, log),
    };
  }

  async start(): Promise<void> {
    const { clock, config } = this.#context;
    await this.#source.start(this);
    const intervalMs = config.ingest.flush_interval;
    const tick = () => this.#tick(intervalMs);
    this.#stopTicking = clock.every(Math.min(250, intervalMs / 4), tick);
  }

  async onClaimed(claim: Claim, found: FoundPartition): Promise<ReadPosition> {
    const { topic } = claim;
    this.#context.metrics.eventsConsumed.inc({ topic }, 0);
    this.#context.metrics.deadLetters.inc({ topic }, 0);
    this.#context.metrics.eventsRemoved.inc({ topic, count: 'exact' }, 0);
    this.#context.metrics.eventsRemoved.inc({ topic, count: 'at_most' }, 0);
    // An alert watches it.
    this.#context.metrics.eventsDropped.inc({ topic, reason: 'unknown_schema' }, 0);
    const position = await this.#startPositionOf(claim, found);
    if (!claim.isLost) {
      this.#partitions.set(claim, new PartitionIngest(claim, position, this.#context));
    }
    const { endOffset, leaderEpoch } = readBefore(position);
    const { readOffset: offset } = position;
    return endOffset < offset
      ? { offset, knownTo: offset, leaderEpoch: -1 }
      : { offset, knownTo: endOffset, leaderEpoch };
  }

  async onBatch(claim: Claim, batch: RecordBatch, keepAlive: () => Promise<void>): Promise<void> {
    const partition = this.#partitions.get(claim);
    if (partition === undefined) throw new ClaimLostError(claimName(claim));
    await partition.onBatch(batch, keepAlive);
  }

  async onRevoking(claims: readonly Claim[]): Promise<void> {
    await Promise.allSettled(claims.map((claim) => this.#partitions.get(claim)?.drain()));
  }

  onLost(claim: Claim): void {
    const partition = this.#partitions.get(claim);
    if (partition !== undefined) this.#unstored.set(claimName(claim), partition.unstored);
    partition?.close();
    this.#partitions.delete(claim);
    this.#context.paused.lost(claim);
    // The partition's next reader exports its own watermark.
    this.#context.metrics.watermarkSeconds.remove(claimLabels(claim));
  }

  /** Time that a partition has waited until its next record can be read, such as for a schema. */
  waitingMs(topic: string, partition: number): number {
    for (const [claim, ingest] of this.#partitions) {
      if (claim.topic === topic && claim.partition === partition) return ingest.waitingMs();
    }
    return 0;
  }

  problems(): string[] {
    const slow = [...this.#partitions].flatMap(([{ topic, partition }, ingest]) => {
      const storingMs = ingest.storingMs();
      if (storingMs <= STORING_MS_TOLERATED) return [];
      const seconds = Math.round(storingMs / 1000);
      return [`ingest: a chunk of ${topic}/${partition} has not been stored for ${seconds} s`];
    });
    const waiting = [...this.#partitions].flatMap(([{ topic, partition }, ingest]) => {
      const waitingMs = ingest.waitingMs();
      if (waitingMs <= STORING_MS_TOLERATED) return [];
      const seconds = Math.round(waitingMs / 1000);
      const failure = this.#schemas?.failure;
      const how = failure === undefined ? '' : `: ${failure}`;
      return [
        `ingest: ${topic}/${partition} has waited ${seconds} s for a schema of the registry${how}`,
      ];
    });
    return [...slow, ...waiting, ...this.#context.paused.problems()];
  }

  /** Stops reading, stores what was read, and releases the partitions. */
  async drain(): Promise<void> {
    this.#source.quiesce();
    this.#stopTicking();
    const outcomes = await Promise.allSettled(
      [...this.#partitions.values()].map((partition) => partition.drain()),
    );
    await this.#source.stop();
    this.#schemas?.close();
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled' || outcome.reason instanceof ClaimLostError) continue;
      this.#context.log.error({ err: String(outcome.reason) }, 'a partition could not be drained');
    }
  }

  /** Releases the partitions without storing: their next owner reads the rest again. */
  async abandon(): Promise<void> {
    this.#stopTicking();
    this.#schemas?.close();
    await this.#source.stop();
  }

  /**
   * A commit of another version ends the process: no process of this version can read it. So does what a
   * retry does not mend (`LastingError`).
   */
  async #startPositionOf(claim: Claim, found: FoundPartition): Promise<StartPosition> {
    const { clock, config, groupId, store, storeId, log } = this.#context;
    const startFrom = config.kafka.start_from;
    const options = {
      groupId,
      storeId,
      startFrom,
      store,
      known: this.#unstored.get(claimName(claim)),
      nowMs: clock.nowMs(),
    };
    let position: StartPosition;
    try {
      position = await resolveStartPosition(claim, found, options);
    } catch (error) {
      const isOurs = error instanceof OperatorError;
      const last = isOurs ? error : this.#lasting.failed(error, clock.elapsedMs());
      if (last !== undefined) this.#failure.reject(last);
      throw error;
    }
    this.#lasting.succeeded();
    const { topic, partition } = claim;
    const { reason, logId, knownLogId, startOffset, intent, lostOffsets, lost } = position;
    const loss = lossOf(position);
    const isNewLog = knownLogId !== undefined;
    const level = loss !== undefined || isNewLog ? 'warn' : 'info';
    log[reason === 'truncated' ? 'error' : level](
      {
        topic,
        partition,
        log_id: logId,
        ...(isNewLog ? { known_log_id: knownLogId } : {}),
        reason,
        offset: startOffset,
        ...(intent === undefined ? {} : { pending_until: intent.endOffset }),
        ...(lostOffsets > 0 ? { lost_offsets: lostOffsets } : {}),
        ...(lost === undefined ? {} : { lost_from: lost.startOffset, lost_to: lost.endOffset }),
      },
      `partition assigned${loss === undefined ? '' : `; ${loss}`}${isNewLog ? anotherLog : ''}`,
    );
    if (!hasTopicId(found.logId) && !this.#lacksTopicIds) {
      this.#lacksTopicIds = true;
      log.warn(
        { topic },
        'the broker has no topic ids (Kafka 2.8 or later has): a recreated topic that is longer is not noticed',
      );
    }
    return position;
  }

  #tick(intervalMs: number): void {
    const { metrics, lateShare, clock } = this.#context;
    let cells = 0;
    for (const partition of this.#partitions.values()) {
      partition.sealIfDue(intervalMs);
      const labels = claimLabels(partition.claim);
      if (Number.isFinite(partition.watermarkMs)) {
        metrics.watermarkSeconds.set(labels, partition.watermarkMs / 1000);
      }
      cells += partition.cellCount;
    }
    metrics.openSeries.set(cells);
    lateShare.show(clock.nowMs());
  }
}

const anotherLog =
  '; the ledger has it from another log (another cluster, or a topic that was recreated): this one is ' +
  'counted by itself';

/** Records that are gone from the log, in words; undefined where there are none. */
function lossOf({ reason, lostOffsets, lost }: StartPosition): string | undefined {
  if (reason === 'truncated') {
    return 'the log ends before what was read, or has other records there: it was truncated';
  }
  if (lost !== undefined) return 'the topic was deleted before all of its records were stored';
  return lostOffsets > 0 ? 'retention has removed records that were not read' : undefined;
}
