import { invariant } from '../base/invariant.ts';
import type { Chunk } from '../sink/chunks/chunk.ts';
import { truncatedId } from '../source/log-id.ts';
import type { RecordBatch } from '../source/record.ts';
import { type Claim, ClaimLostError } from '../source/source.ts';
import { type ChunkSettings, chunkSettingsOf } from './chunk/chunk-settings.ts';
import { fillChunk } from './chunk/fill-chunk.ts';
import {
  type ChunkBegin,
  type ChunkContext,
  OpenChunk,
  type SealedChunk,
} from './chunk/open-chunk.ts';
import { ChunkFlush, type ChunkStart, commitStart, type FlushContext } from './chunk-flush.ts';
import { dueMs } from './chunk-turn.ts';
import { countsOf, type Intent } from './commit-metadata.ts';
import { type CountContext, countStored } from './count-stored.ts';
import type { DeadLetter } from './letters/dead-letter.ts';
import { madeAgain } from './made-again.ts';
import { type Doubt, doubtOf, type PausedPartitions } from './paused-partitions.ts';
import { persist } from './persist.ts';
import type { StartPosition, UnstoredLog } from './start-position.ts';

export interface PartitionContext extends ChunkContext, FlushContext, CountContext {
  /** Called when a chunk cannot be stored and a retry does not help. */
  readonly onFailure: (error: unknown) => void;
  readonly paused: Pick<PausedPartitions, 'pause' | 'tryAgain' | 'goesOn'>;
  /** Asks how far the local clock is ahead of ClickHouse's. Absent where clocks do not matter. */
  readonly clockAheadMs?: ((of: Pick<Claim, 'topic' | 'partition'>) => Promise<number>) | undefined;
}

const KEEP_ALIVE_MS = 500;
/** Time from a pause until its records are read again. Fetches from before the pause have ended by then. */
const PAUSE_MS = 60_000;

/**
 * Ingest of one claimed partition: fills a chunk while the previous one is stored, and no more. While the
 * store is slow `onBatch` does not return and the source stops fetching: back-pressure instead of buffers.
 */
export class PartitionIngest {
  readonly claim: Claim;
  readonly #context: PartitionContext;
  readonly #start: StartPosition;
  #mustCommitStart: boolean;
  #committing: Promise<void> | undefined;
  #open: OpenChunk;
  /** A predecessor's pending chunk: it must be sealed exactly at its end. */
  #inherited: Intent | undefined;
  #before: ChunkBegin;
  /** Lost records of the log before, until the ledger has them. */
  #lost: UnstoredLog | undefined;
  /** Offset at which reading begins in the log of the open chunk: records before it are removed. */
  #readOffset: number;
  /** The chunk that is being stored, which may be a predecessor's. */
  #storing: Pick<UnstoredLog, 'startOffset' | 'intent'> | undefined;
  /** Monotonic time at which the open chunk was begun, and the wall clock's. */
  #openedMs = 0;
  #openedAtMs = 0;
  /** End of the log when it was read last. */
  #highWatermark = 0;
  #sealed = 0;
  #draining = false;
  #flushing: Promise<void> | undefined;
  #flushingSinceMs = 0;
  #waitingSinceMs: number | undefined;
  #failure: unknown;
  /** Time at which it was paused; undefined while it is not. */
  #pausedMs: number | undefined;
  /** Wall clock less the monotonic one, when the clock of the open chunk was set. */
  #clockMs = 0;

  constructor(claim: Claim, start: StartPosition, context: PartitionContext) {
    const { lost, leaderEpoch } = start;
    const { intent, logId, startOffset } = lost ?? start;
    const { watermarkMs = Number.NEGATIVE_INFINITY } = start;
    this.claim = claim;
    this.#context = context;
    const settings = intent?.settings ?? this.#ownSettings();
    if (intent !== undefined) this.#compareFormat(intent);
    this.#start = start;
    this.#mustCommitStart = start.mustCommit;
    this.#open = new OpenChunk(context, settings, claim.topic, claim.partition);
    this.#open.countRemovedFrom(start.removedFrom);
    this.#inherited = intent;
    this.#lost = lost;
    this.#readOffset = lost?.endOffset ?? start.readOffset;
    this.#before = { logId, startOffset, watermarkMs, leaderEpoch };
    this.#begin(this.#before, intent?.nowMs ?? context.clock.nowMs());
  }

  get watermarkMs(): number {
    return this.#open.watermarkMs;
  }

  /** Records that are known and not stored, for the next owner of the partition. */
  get unstored(): UnstoredLog {
    const end = this.#lost === undefined ? this.#highWatermark : 0;
    const endOffset = Math.max(end, this.#readOffset, this.#open.nextOffset);
    return { ...this.#before, endOffset, intent: this.#inherited, ...this.#storing };
  }

  get cellCount(): number {
    return this.#open.cellCount;
  }

  /** Time for which the current chunk has been stored; 0 while none is. */
  storingMs(): number {
    if (this.#flushing === undefined) return 0;
    return this.#context.clock.elapsedMs() - this.#flushingSinceMs;
  }

  /** Time that the next record has waited to be readable, such as for its schema; 0 while none waits. */
  waitingMs(): number {
    if (this.#waitingSinceMs === undefined) return 0;
    return this.#context.clock.elapsedMs() - this.#waitingSinceMs;
  }

  /** Adds a batch; resolves when it is in a chunk, which may not be stored yet. */
  async onBatch(batch: RecordBatch, keepAlive: () => Promise<void>): Promise<void> {
    this.#highWatermark = batch.highWatermark;
    if (this.#mustCommitStart) await this.#commitStart();
    while (batch.records.current !== undefined) {
      this.#check();
      if (this.#draining || this.#pausedMs !== undefined) return;
      if (this.#isRemoved || this.#isClockOutdated()) {
        await this.#sealWhenStored(keepAlive);
        continue;
      }
      const prepared = this.#fill(batch);
      if (prepared !== undefined) await this.#awaitPrepared(prepared, keepAlive);
      if (this.#mustSeal()) await this.#sealWhenStored(keepAlive);
      await keepAlive();
      await this.#context.clock.yieldToEventLoop();
    }
  }

  /** Seals the open chunk if its turn has come and the previous one is stored; reads again after a pause. */
  sealIfDue(intervalMs: number): void {
    if (this.#pausedMs !== undefined) this.#readAgainIfDue(this.#pausedMs);
    // A record that is read again first shows whether the log still is the one.
    const { readOffset, startOffset } = this.#start;
    if (this.#mustCommitStart && readOffset >= startOffset) this.#commitStart().catch(this.#fail);
    if (this.#mustCommitStart || this.#flushing !== undefined) return;
    if (this.#isRemoved) this.seal();
    if (this.#inherited !== undefined || this.#flushing !== undefined) return;
    if (this.#context.clock.elapsedMs() - this.#openedMs >= this.#dueMs(intervalMs)) this.seal();
  }

  #dueMs(intervalMs: number): number {
    return dueMs(intervalMs, {
      partition: this.claim.partition,
      records: this.#open.records,
      waiting: this.#highWatermark - this.#open.nextOffset,
      openMs: this.#context.clock.elapsedMs() - this.#openedMs,
      openedAtMs: this.#openedAtMs,
      watermarkMs: this.#before.watermarkMs,
      graceMs: this.#context.config.windows.grace,
      isFirst: this.#sealed === 0,
    });
  }

  /** Seals the open chunk and starts to store it. The previous chunk must be stored. */
  seal(): void {
    // After a failed chunk, a later commit would skip it for good.
    if (this.#failure !== undefined || this.#pausedMs !== undefined) return;
    if (this.#open.records === 0 && this.#inherited === undefined && !this.#isRemoved) {
      this.#setOpened();
      return;
    }
    invariant(this.#flushing === undefined, 'a chunk is sealed while another is being stored');
    const { clock } = this.#context;
    const sealed = this.#open.seal(clock.nowMs());
    const doubt = this.#doubtOf(sealed.chunk, sealed.letters);
    if (doubt !== undefined) {
      this.#pause(doubt);
      return;
    }
    const [clockMs, isFirst] = [this.#clockMs, this.#sealed === 0];
    this.#sealed += 1;
    const chunk = madeAgain(sealed.chunk, this.#inherited, this.#context.log);
    const start = this.#startOf(chunk, isFirst);
    if (start.inherited) this.#useOwnSettings();
    this.#begin(start.inherited ? this.#afterInherited(chunk) : after(chunk), clock.nowMs());
    this.#flushingSinceMs = clock.elapsedMs();
    this.#storing = { startOffset: chunk.startOffset, intent: start.intent };
    this.#flushing = this.#store({ ...sealed, chunk }, start, clockMs)
      .catch(this.#fail)
      .finally(() => {
        this.#flushing = undefined;
      });
  }

  /** Drops what is not stored: another member reads it again. */
  close(): void {
    this.#open.close();
  }

  /** Stores everything read so far. @throws ClaimLostError when the claim was lost meanwhile. */
  async drain(): Promise<void> {
    this.#draining = true;
    await this.#flushing;
    this.#check();
    // A predecessor's unfinished range is left to a successor that reads all of it.
    if (this.#inherited === undefined || this.#isRemoved) this.seal();
    await this.#flushing;
    this.#check();
  }

  async #store(sealed: SealedChunk, start: ChunkStart, clockMs: number): Promise<void> {
    const { chunk, letters } = sealed;
    const { clock, metrics, paused } = this.#context;
    const startedMs = clock.elapsedMs();
    if (!start.inherited) {
      const doubt = await this.#doubtOfClock(chunk, letters, clockMs);
      if (doubt !== undefined) {
        this.#pause(doubt);
        return;
      }
    }
    paused.goesOn(this.claim);
    await new ChunkFlush(this.claim, chunk, letters, start, this.#context).run();
    this.#storing = undefined;
    this.#count(sealed);
    this.#observeDelay(chunk, start);
    metrics.chunkFlushSeconds.observe((clock.elapsedMs() - startedMs) / 1000);
  }

  /** Of an own chunk: an inherited one may be stored in part already. */
  #doubtOf(chunk: Chunk, letters: readonly DeadLetter[]): Doubt | undefined {
    if (this.claim.pause === undefined || this.#inherited !== undefined) return undefined;
    return doubtOf(chunk, letters, this.#context.config.ingest.pause_above_rejected);
  }

  /** Compares the clock with ClickHouse's where events were rejected as future by it. */
  async #doubtOfClock(
    chunk: Chunk,
    letters: readonly DeadLetter[],
    clockMs: number,
  ): Promise<Doubt | undefined> {
    const { clockAheadMs, clock, config } = this.#context;
    const rejected = letters.filter(({ reason }) => reason === 'future').length;
    if (this.claim.pause === undefined || clockAheadMs === undefined || rejected === 0) {
      return undefined;
    }
    let behindMs = 0;
    // The clock may have been set since the chunk began, and while it is compared.
    const setByMs = () => clock.nowMs() - clock.elapsedMs() - clockMs;
    const compare = async () => {
      const beforeMs = setByMs();
      const aheadMs = await clockAheadMs(this.claim);
      behindMs = Math.max(beforeMs, setByMs()) - aheadMs;
    };
    await persist('compare the clocks', this.claim, chunk, compare, this.#context);
    if (behindMs < config.windows.max_future / 2) return undefined;
    const { consumed, startOffset, endOffset } = chunk;
    const found = { reason: 'future', rejected, consumed, startOffset, endOffset } as const;
    return { ...found, clockBehindMs: behindMs };
  }

  /** Stores nothing of a chunk, or after it, until its records are read again. */
  #pause(doubt: Doubt): void {
    const { paused, clock } = this.#context;
    this.#pausedMs = clock.elapsedMs();
    this.claim.pause?.();
    paused.pause(this.claim, doubt);
  }

  #readAgainIfDue(pausedMs: number): void {
    const { paused, clock } = this.#context;
    if (clock.elapsedMs() - pausedMs < PAUSE_MS) return;
    paused.tryAgain(this.claim);
    this.claim.readAgain?.();
  }

  /** Start of the next chunk. */
  #afterInherited(chunk: Chunk): ChunkBegin {
    const { truncatedAt } = this.#start;
    if (truncatedAt === undefined) return after(chunk);
    const { endOffset: startOffset, leaderEpoch } = truncatedAt;
    return { ...after(chunk), logId: truncatedId(chunk.logId), startOffset, leaderEpoch };
  }

  #startOf(chunk: Chunk, isFirst: boolean): ChunkStart {
    const { endOffset } = chunk;
    const { nowMs, settings } = this.#open;
    return {
      before: this.#before,
      intent: this.#inherited ?? { endOffset, nowMs, settings, counts: countsOf(chunk) },
      inherited: this.#inherited !== undefined,
      isFirst,
    };
  }

  /** Switches to the configured settings after the predecessor's chunk. */
  #useOwnSettings(): void {
    const { topic, partition } = this.claim;
    this.#inherited = undefined;
    this.#open.close();
    this.#open = new OpenChunk(this.#context, this.#ownSettings(), topic, partition);
    this.#open.countRemovedFrom(this.#start.removedFrom);
  }

  #ownSettings(): ChunkSettings {
    const { config, formats } = this.#context;
    return chunkSettingsOf(config, formats?.identityOf(this.claim.topic));
  }

  /** A chunk that was begun by the rules of another format may be stored in part: it is made by those of now. */
  #compareFormat({ settings, endOffset }: Intent): void {
    const { topic, partition } = this.claim;
    if (settings.format === this.#ownSettings().format) return;
    this.#context.log.warn(
      { topic, partition, end_offset: endOffset },
      'a chunk was begun with another format of its topic: verify may find a difference',
    );
  }

  /** Commits the start position, so that a successor begins there as well. */
  #commitStart(): Promise<void> {
    this.#committing ??= commitStart(this.claim, this.#start, this.#context).then(() => {
      this.#mustCommitStart = false;
    });
    return this.#committing;
  }

  readonly #fail = (error: unknown) => {
    this.#failure = error;
    if (!(error instanceof ClaimLostError)) this.#context.onFailure(error);
  };

  #setClock(): void {
    const { clock } = this.#context;
    this.#open.setClock(clock.nowMs());
    this.#clockMs = clock.nowMs() - clock.elapsedMs();
  }

  #begin(reached: ChunkBegin, nowMs: number): void {
    const begin = this.#inherited === undefined ? this.#nextLog(reached) : reached;
    const end = Math.min(this.#readOffset, this.#boundary ?? Number.POSITIVE_INFINITY);
    const isRemoved = begin.startOffset < end;
    // The leader of records that are gone says nothing of the log from here on.
    this.#before = isRemoved ? { ...begin, leaderEpoch: -1 } : begin;
    this.#setOpened();
    this.#open.begin(this.#before, nowMs);
    if (isRemoved) this.#open.passRemoved(end);
  }

  /** The log that is there, once the ledger has all that is lost of the one before. */
  #nextLog(reached: ChunkBegin): ChunkBegin {
    if (this.#lost === undefined || reached.startOffset < this.#readOffset) return reached;
    const { logId, startOffset, readOffset, leaderEpoch } = this.#start;
    this.#lost = undefined;
    this.#readOffset = readOffset;
    return { logId, startOffset, watermarkMs: Number.NEGATIVE_INFINITY, leaderEpoch };
  }

  /** True if the open chunk has no records left to read: it is sealed without one. */
  get #isRemoved(): boolean {
    if (this.#inherited !== undefined) return this.#readOffset >= (this.#boundary ?? 0);
    return this.#before.startOffset < this.#readOffset;
  }

  #setOpened(): void {
    const { clock } = this.#context;
    this.#openedMs = clock.elapsedMs();
    this.#openedAtMs = clock.nowMs();
  }

  /** Offset at which an inherited chunk's records end. */
  get #boundary(): number | undefined {
    if (this.#inherited === undefined) return undefined;
    const { endOffset } = this.#inherited;
    return Math.min(endOffset, this.#start.truncatedAt?.endOffset ?? endOffset);
  }

  /** Adds some records to the open chunk; returns what the next record waits for. */
  #fill(batch: RecordBatch): Promise<void> | undefined {
    const boundary = this.#boundary;
    if (boundary === undefined && this.#open.records === 0) this.#setClock();
    return fillChunk(this.#open, batch, boundary);
  }

  /** Holds the partition back until the next record can be decoded, and keeps the claim alive meanwhile. */
  async #awaitPrepared(prepared: Promise<void>, keepAlive: () => Promise<void>): Promise<void> {
    let isDone = false;
    const done = prepared.then(() => {
      isDone = true;
    });
    this.#waitingSinceMs = this.#context.clock.elapsedMs();
    while (!isDone && !this.#draining && this.#pausedMs === undefined) {
      await Promise.race([done, this.#context.clock.sleep(KEEP_ALIVE_MS)]);
      await keepAlive();
      this.#check();
    }
    this.#waitingSinceMs = undefined;
  }

  /** An inherited range ends exactly at its intent's end, any other when it is full. */
  #mustSeal(): boolean {
    const boundary = this.#boundary;
    return boundary === undefined ? this.#open.isFull : this.#open.nextOffset >= boundary;
  }

  /**
   * True if the chunk's clock is too old for new records: the chunk stays open while ClickHouse is down, and
   * later records must not count as future ones.
   */
  #isClockOutdated(): boolean {
    if (this.#inherited !== undefined || this.#open.records === 0) return false;
    const ageMs = Math.abs(this.#context.clock.nowMs() - this.#open.nowMs);
    return ageMs > this.#open.settings.maxFutureMs / 2;
  }

  /**
   * Seals once the previous chunk is stored, and keeps the claim alive meanwhile. Does not seal in a drain.
   */
  async #sealWhenStored(keepAlive: () => Promise<void>): Promise<void> {
    // One message may take as long as sealing its chunk, so both get a turn.
    await this.#context.clock.yieldToEventLoop();
    while (this.#flushing !== undefined) {
      await Promise.race([this.#flushing, this.#context.clock.sleep(KEEP_ALIVE_MS)]);
      await keepAlive();
      this.#check();
    }
    if (!this.#draining) this.seal();
  }

  #check(): void {
    if (this.claim.isLost) throw new ClaimLostError(`${this.claim.topic}/${this.claim.partition}`);
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** A chunk with late events only says nothing of how fresh the stored events are. */
  #observeDelay({ watermarkMs }: Chunk, { before }: ChunkStart): void {
    if (watermarkMs <= before.watermarkMs) return;
    const delayMs = Math.max(0, this.#context.clock.nowMs() - watermarkMs);
    this.#context.metrics.eventStoredSeconds.observe(delayMs / 1000);
  }

  #count(sealed: SealedChunk): void {
    countStored(sealed, this.#context);
  }
}

/** Start of the chunk after another one. */
function after({ logId, endOffset, watermarkMs, leaderEpoch }: Chunk): ChunkBegin {
  return { logId, startOffset: endOffset, watermarkMs, leaderEpoch };
}
