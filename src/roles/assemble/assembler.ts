import type { AssembleSettings } from '../../assemble/assemble-settings.ts';
import type { RestartPoint } from '../../assemble/restart-point.ts';
import { closingCauses } from '../../assemble/trace.ts';
import type { Clock } from '../../base/clock.ts';
import { Failure, messageOf } from '../../base/failure.ts';
import { OperatorError } from '../../base/operator-error.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import type { Metrics } from '../../base/telemetry/metrics.ts';
import { minuteMs } from '../../base/time.ts';
import { rejectReasons } from '../../decode/reject-reasons.ts';
import { RejectWarnings } from '../../ingest/letters/reject-warnings.ts';
import type { RecordBatch } from '../../source/record.ts';
import {
  type Claim,
  ClaimLostError,
  type CommittedOffset,
  claimLabels,
  claimName,
  type FoundPartition,
  type ReadPosition,
  type SourceHandler,
} from '../../source/source.ts';
import { assemblyStart } from './assembly-start.ts';
import type { PartitionAssembly, Publication } from './partition-assembly.ts';

/** Publishes for one partition, all or nothing. */
export interface AssemblyOutput {
  publish(publication: Publication): Promise<void>;
  close(): Promise<void>;
}

export interface AssemblerOptions {
  readonly settings: AssembleSettings;
  readonly startFrom: 'earliest' | 'latest';
  readonly commitIntervalMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /**
   * Opens the output of a partition. Once it is open, whatever was opened before for the partition, here or
   * elsewhere, publishes nothing any more, and what it has published can be read.
   */
  openOutput(topic: string, partition: number): Promise<AssemblyOutput>;
  /** The reason why no further transaction can succeed after an error; undefined where one may. */
  lastingFailure?(error: unknown): Promise<OperatorError | undefined>;
  committed(topic: string, partition: number): Promise<CommittedOffset>;
  endOffset(topic: string, partition: number): Promise<number>;
  assembly(claim: Claim, logId: string, restart: RestartPoint): PartitionAssembly;
}

/** Records between two turns of the event loop. */
const RECORDS_PER_TURN = 500;
/** Events and letters that are published before the interval is over. */
const MOST_WAITING = 20_000;
const TICK_MS = 250;
/** Fetches from before a pause have ended after it: see Claim. */
const READ_AGAIN_MS = 30_000;
/** Time for which a lost partition's traces are kept, in case it comes back. */
const KEPT_MS = minuteMs;

/** A partition and its traces. It outlives a claim: a rebalance may give the partition back. */
interface Partition {
  readonly name: string;
  readonly logId: string;
  readonly assembly: PartitionAssembly;
  readonly output: AssemblyOutput;
  /** The last commit. */
  committed: CommittedOffset;
  publishedMs: number;
  /** Time at which the log's time was last seen to move. */
  movedMs: number;
  logTimeMs: number;
  /** The work in progress, one at a time. */
  work: Promise<void>;
  isFailed: boolean;
  lostMs: number | undefined;
}

/**
 * The role assemble: reads spans, and publishes the events of traces that are complete. A partition's state
 * moves ahead of its commits, so whatever fails drops it. Its next owner, this process or another, rebuilds
 * it from the commit.
 *
 * Only the output decides who owns a partition: opening it ends all others, so a process that was suspended
 * publishes nothing, whatever its group says.
 */
export class Assembler implements SourceHandler {
  readonly #warnings: RejectWarnings;
  readonly #options: AssemblerOptions;
  readonly #partitions = new Map<Claim, Partition>();
  /** Partitions that were lost a moment ago, by name. */
  readonly #kept = new Map<string, Partition>();
  /** Claims that are read again: when, and why. */
  readonly #paused = new Map<Claim, { readonly dueMs: number; readonly why: string }>();
  readonly #failure = new Failure();
  readonly failed = this.#failure.promise;
  #stopTicking: () => void = () => undefined;

  constructor(options: AssemblerOptions) {
    this.#warnings = new RejectWarnings(options.log);
    this.#options = options;
  }

  start(): void {
    this.#stopTicking = this.#options.clock.every(TICK_MS, () => this.#tick());
  }

  async onClaimed(claim: Claim, found: FoundPartition): Promise<ReadPosition> {
    const partition = (await this.#takeBack(claim, found)) ?? (await this.#open(claim, found));
    if (claim.isLost) this.#keep(partition);
    else this.#partitions.set(claim, partition);
    const { position: offset, knownTo } = partition.assembly;
    return { offset, knownTo, leaderEpoch: -1 };
  }

  async onBatch(claim: Claim, batch: RecordBatch, keepAlive: () => Promise<void>): Promise<void> {
    const partition = this.#partitions.get(claim);
    if (partition === undefined || partition.isFailed) throw new ClaimLostError(claim.topic);
    await this.#inTurn(partition, async () => {
      const { clock } = this.#options;
      while (partition.assembly.take(batch, RECORDS_PER_TURN)) {
        await this.#publishIfDue(claim, partition);
        await clock.yieldToEventLoop();
        await keepAlive();
      }
      this.#observeLogTime(partition);
      await this.#publishIfDue(claim, partition);
    });
    if (partition.isFailed) throw new ClaimLostError(claim.topic);
  }

  onLost(claim: Claim): void {
    const partition = this.#partitions.get(claim);
    this.#partitions.delete(claim);
    if (partition !== undefined) this.#keep(partition);
    this.#options.metrics.assembleLag.remove(claimLabels(claim));
  }

  /** Reasons why it is unhealthy; empty when it is healthy. */
  problems(): readonly string[] {
    return [...this.#paused]
      .filter(([claim]) => !claim.isLost)
      .map(
        ([claim, { why }]) =>
          `assemble: a transaction for ${claimName(claim)} failed, so the partition is read again from its commit (${why})`,
      );
  }

  /** Publishes what is complete, and gives up everything. Traces that are open stay in the log. */
  async drain(): Promise<void> {
    this.#stopTicking();
    const claims = [...this.#partitions];
    await Promise.allSettled(
      claims.map(([claim, partition]) =>
        this.#inTurn(partition, () => this.#publish(claim, partition)),
      ),
    );
    const all = [...claims.map(([, partition]) => partition), ...this.#kept.values()];
    await Promise.allSettled(all.map(({ output }) => output.close()));
  }

  /** Takes back a partition that was lost, where nobody has published for it since. */
  async #takeBack(claim: Claim, found: FoundPartition): Promise<Partition | undefined> {
    const { topic, partition: number } = claim;
    const kept = this.#kept.get(claimName(claim));
    if (kept === undefined) return undefined;
    this.#kept.delete(kept.name);
    await kept.work;
    const committed = await this.#options.committed(topic, number);
    const isSame =
      committed.offset === kept.committed.offset && committed.metadata === kept.committed.metadata;
    const isThere = kept.logId === found.logId && kept.assembly.knownTo <= found.endOffset;
    if (isSame && isThere && !kept.isFailed) {
      kept.lostMs = undefined;
      return kept;
    }
    await kept.output.close().catch(() => undefined);
    return undefined;
  }

  async #open(claim: Claim, found: FoundPartition): Promise<Partition> {
    const { topic, partition } = claim;
    const { settings, startFrom, clock, log, metrics } = this.#options;
    // Of a topic that does nothing yet: an alert compares these.
    metrics.assembleTransactions.inc({ topic }, 0);
    metrics.assembleFailures.inc({ topic }, 0);
    metrics.assembleEvents.inc({ topic }, 0);
    for (const cause of closingCauses) metrics.assembleClosed.inc({ topic, cause }, 0);
    for (const reason of rejectReasons) metrics.assembleRejected.inc({ topic, reason }, 0);
    metrics.deadLetters.inc({ topic }, 0);
    const output = await this.#options.openOutput(topic, partition);
    try {
      // Read after the output is open: from then on nobody else commits.
      const committed = await this.#options.committed(topic, partition);
      // So is the end: the owner before may have read on since it was looked up.
      const end = await this.#options.endOffset(topic, partition);
      const here = { ...found, endOffset: Math.max(found.endOffset, end) };
      const { restart, reason } = assemblyStart(committed, here, settings, startFrom);
      const isLoss = reason === 'expired' || reason === 'truncated';
      const { offset, position } = restart;
      log[isLoss ? 'error' : 'info'](
        { topic, partition, reason, offset, position },
        isLoss ? 'partition assigned; open traces are lost' : 'partition assigned',
      );
      const nowMs = clock.elapsedMs();
      return {
        ...{ name: claimName(claim), logId: found.logId, output, committed },
        assembly: this.#options.assembly(claim, found.logId, restart),
        ...{ publishedMs: nowMs, movedMs: nowMs, logTimeMs: Number.NaN },
        ...{ work: Promise.resolve(), isFailed: false, lostMs: undefined },
      };
    } catch (error) {
      await output.close().catch(() => undefined);
      if (error instanceof OperatorError) this.#failure.reject(error);
      throw error;
    }
  }

  #keep(partition: Partition): void {
    if (partition.isFailed) return;
    partition.lostMs = this.#options.clock.elapsedMs();
    this.#kept.set(partition.name, partition);
  }

  /** Runs work of a partition after its work before. */
  #inTurn(partition: Partition, work: () => Promise<void>): Promise<void> {
    const done = partition.work.then(work);
    partition.work = done.catch(() => undefined);
    return done;
  }

  #observeLogTime(partition: Partition): void {
    const { logTimeMs } = partition.assembly;
    if (logTimeMs === partition.logTimeMs) return;
    partition.logTimeMs = logTimeMs;
    partition.movedMs = this.#options.clock.elapsedMs();
  }

  async #publishIfDue(claim: Claim, partition: Partition): Promise<void> {
    const { clock, commitIntervalMs } = this.#options;
    const { assembly } = partition;
    if (!assembly.hasProgress) return;
    const isDue = clock.elapsedMs() - partition.publishedMs >= commitIntervalMs;
    if (isDue || assembly.waiting >= MOST_WAITING) await this.#publish(claim, partition);
  }

  async #publish(claim: Claim, partition: Partition): Promise<void> {
    const { assembly, output } = partition;
    if (partition.isFailed || !assembly.hasProgress) return;
    const { clock, metrics, log } = this.#options;
    const publication = assembly.publication();
    try {
      await output.publish(publication);
    } catch (error) {
      partition.isFailed = true;
      const { topic, partition: number } = claim;
      const why = messageOf(error);
      metrics.assembleFailures.inc({ topic });
      log.warn(
        { topic, partition: number, err: why, retry_ms: READ_AGAIN_MS },
        'a transaction failed, or another process has the partition; reading it again from its commit',
      );
      this.#readAgain(claim, why);
      const lasting = await this.#options.lastingFailure?.(error);
      if (lasting !== undefined) this.#failure.reject(lasting);
      await output.close().catch(() => undefined);
      throw new ClaimLostError(partition.name, { cause: error });
    }
    const { offset, metadata } = publication;
    partition.committed = { offset, metadata };
    partition.publishedMs = clock.elapsedMs();
    this.#show(publication, claim.topic);
  }

  #readAgain(claim: Claim, why: string): void {
    if (claim.isLost) return;
    claim.pause?.();
    this.#paused.set(claim, { dueMs: this.#options.clock.elapsedMs() + READ_AGAIN_MS, why });
  }

  #show({ counts, letters }: Publication, topic: string): void {
    const { metrics, clock } = this.#options;
    const consumed = counts.events + letters.length;
    this.#warnings.count({ topic, consumed }, letters, clock.elapsedMs());
    metrics.assembleTransactions.inc({ topic });
    metrics.assembleSpans.inc({ topic }, counts.spans);
    metrics.assembleEvents.inc({ topic }, counts.events);
    metrics.assembleDuplicates.inc({ topic }, counts.duplicates);
    for (const [cause, n] of counts.closed) metrics.assembleClosed.inc({ topic, cause }, n);
    for (const [reason, n] of counts.rejected) metrics.assembleRejected.inc({ topic, reason }, n);
  }

  #tick(): void {
    const { metrics, clock } = this.#options;
    metrics.assembleOpenTraces.reset();
    metrics.assembleOpenBytes.reset();
    for (const [claim, partition] of this.#partitions) {
      const { assembly } = partition;
      const { topic } = claim;
      metrics.assembleOpenTraces.inc({ topic }, assembly.openTraces);
      metrics.assembleOpenBytes.inc({ topic }, assembly.openBytes);
      metrics.assembleLag.set(claimLabels(claim), assembly.lag);
      if (!partition.isFailed) void this.#tickPartition(claim, partition).catch(() => undefined);
    }
    for (const [claim, { dueMs }] of [...this.#paused]) {
      if (!claim.isLost && clock.elapsedMs() < dueMs) continue;
      this.#paused.delete(claim);
      if (!claim.isLost) claim.readAgain?.();
    }
    for (const partition of [...this.#kept.values()]) {
      if (clock.elapsedMs() - (partition.lostMs ?? 0) < KEPT_MS) continue;
      this.#kept.delete(partition.name);
      void partition.work.then(() => partition.output.close()).catch(() => undefined);
    }
  }

  /** Publishes what waits, and closes traces of a partition whose time stands still at its end. */
  async #tickPartition(claim: Claim, partition: Partition): Promise<void> {
    const { clock } = this.#options;
    const { assembly } = partition;
    const stillMs = clock.elapsedMs() - partition.movedMs;
    const { tickAfterMs } = assembly;
    const isStill = tickAfterMs !== undefined && stillMs >= tickAfterMs;
    const isDue = clock.elapsedMs() - partition.publishedMs >= this.#options.commitIntervalMs;
    if (!isStill && !(isDue && assembly.hasProgress)) return;
    // Not twice, where a check of the end takes long.
    if (isStill) partition.movedMs = clock.elapsedMs();
    await this.#inTurn(partition, async () => {
      if (claim.isLost || partition.isFailed) return;
      if (isStill && (await this.#isAtEnd(claim, partition))) {
        if (assembly.tickAfterMs !== undefined) assembly.tick();
        partition.logTimeMs = assembly.logTimeMs;
      }
      await this.#publishIfDue(claim, partition);
    });
  }

  /** True if all of the log has been read, as its broker says now. */
  async #isAtEnd(claim: Claim, { assembly }: Partition): Promise<boolean> {
    const end = await this.#options.endOffset(claim.topic, claim.partition);
    return end >= 0 && assembly.position >= end;
  }
}
