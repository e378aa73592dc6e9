import { hostname } from 'node:os';
import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../base/log.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Config } from '../config/schema.ts';
import type { ChunkStore } from '../sink/chunk-store.ts';
import { RowBinaryWriter } from '../sink/row-binary-writer.ts';
import type { Publisher } from '../source/publisher.ts';
import type { RecordBatch } from '../source/record.ts';
import { type Claim, ClaimLostError, type Source, type SourceHandler } from '../source/source.ts';
import { type PartitionContext, PartitionIngest } from './partition-ingest.ts';

export interface IngesterOptions {
  readonly config: Config;
  readonly source: Source;
  readonly store: ChunkStore;
  readonly publisher: Publisher | undefined;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** How this process calls itself in the ledger. */
export function instanceName(): string {
  return `${hostname()}/${process.pid}`;
}

/** A chunk that takes longer to store makes the process unready. */
const STORING_MS_TOLERATED = 20_000;

/**
 * The ingest role: reads a source, fills a chunk per claimed partition, stores chunks as they fall
 * due. Everything of a partition happens in its PartitionIngest.
 */
export class Ingester implements SourceHandler {
  readonly #options: IngesterOptions;
  readonly #context: PartitionContext;
  readonly #partitions = new Map<Claim, PartitionIngest>();
  /** Rejects when a chunk cannot be stored for a reason of our own. */
  readonly failed: Promise<never>;
  #fail: (error: unknown) => void = () => undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: IngesterOptions) {
    const { config, source, store, publisher, log, metrics } = options;
    this.#options = options;
    this.#context = {
      config,
      groupId: source.groupId,
      writer: new RowBinaryWriter(),
      store,
      publisher,
      deadLetterSuffix: config.kafka.dead_letter_suffix,
      sleep: (ms) => sleep(ms),
      breathe: () => breathe(),
      nowMs: () => Date.now(),
      onFailure: (error) => this.#fail(error),
      log,
      metrics,
    };
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => undefined);
  }

  /** Begins to read. */
  async start(): Promise<void> {
    const { config, source } = this.#options;
    await source.start(this);
    const intervalMs = config.ingest.flush_interval;
    this.#timer = setInterval(() => this.#tick(intervalMs), Math.min(250, intervalMs / 4));
  }

  async onBatch(claim: Claim, batch: RecordBatch, keepAlive: () => Promise<void>): Promise<void> {
    let partition = this.#partitions.get(claim);
    if (partition === undefined) {
      partition = new PartitionIngest(claim, this.#context);
      this.#partitions.set(claim, partition);
    }
    await partition.onBatch(batch, keepAlive);
  }

  onLost(claim: Claim): void {
    this.#partitions.delete(claim);
  }

  /** Why chunks do not get stored, if they do not. */
  problems(): string[] {
    const nowMs = this.#context.nowMs();
    const stuck = [...this.#partitions.values()].filter(
      (partition) => partition.storingMs(nowMs) > STORING_MS_TOLERATED,
    );
    return stuck.map((partition) => {
      const { topic, partition: number } = partition.claim;
      const seconds = Math.round(partition.storingMs(nowMs) / 1000);
      return `ingest: a chunk of ${topic}/${number} has not been stored for ${seconds} s`;
    });
  }

  /** Reads no more, stores what was read, gives the partitions back. */
  async drain(): Promise<void> {
    const { source, log } = this.#options;
    source.quiesce();
    clearInterval(this.#timer);
    const outcomes = await Promise.allSettled(
      [...this.#partitions.values()].map((partition) => partition.drain()),
    );
    await source.stop();
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled' || outcome.reason instanceof ClaimLostError) continue;
      log.error({ err: String(outcome.reason) }, 'a partition could not be drained');
    }
  }

  /** Gives the partitions back without storing: whoever takes them reads the rest again. */
  async abandon(): Promise<void> {
    clearInterval(this.#timer);
    await this.#options.source.stop();
  }

  #tick(intervalMs: number): void {
    const { metrics } = this.#options;
    let cells = 0;
    for (const partition of this.#partitions.values()) {
      partition.sealIfDue(intervalMs);
      const labels = {
        topic: partition.claim.topic,
        partition: String(partition.claim.partition),
      };
      metrics.lagMessages.set(labels, partition.lagMessages);
      if (Number.isFinite(partition.watermarkMs)) {
        metrics.watermarkSeconds.set(labels, partition.watermarkMs / 1000);
      }
      cells += partition.cellCount;
    }
    metrics.openSeries.set(cells);
  }
}
