import { invariant } from '../base/invariant.ts';
import { type Chunk, chunkToken } from '../sink/chunks/chunk.ts';
import { truncatedId } from '../source/log-id.ts';
import type { RecordBatch } from '../source/record.ts';
import { type Claim, ClaimLostError } from '../source/source.ts';
import { fillChunk } from './chunk/fill-chunk.ts';
import {
  type ChunkBegin,
  type ChunkContext,
  OpenChunk,
  type SealedChunk,
} from './chunk/open-chunk.ts';
import { ChunkFlush, type ChunkStart, type FlushContext } from './chunk-flush.ts';
import { type ChunkSettings, chunkSettingsOf } from './chunk-settings.ts';
import { untilTurn } from './chunk-turn.ts';
import { countsOf, encodeMetadata, type Intent } from './commit-metadata.ts';
import type { LateShare } from './late-share.ts';
import type { DeadLetter } from './letters/dead-letter.ts';
import type { RejectWarnings } from './letters/reject-warnings.ts';
import { type Doubt, doubtOf, type PausedPartitions } from './paused-partitions.ts';
import { persist } from './persist.ts';
import type { StartPosition } from './start-position.ts';

export interface PartitionContext extends ChunkContext, FlushContext {
  /** Called when a chunk cannot be stored and a retry does not help. */
  readonly onFailure: (error: unknown) => void;
  readonly lateShare: Pick<LateShare, 'count'>;
  /** Absent where nobody reads the log. */
  readonly rejectWarnings?: Pick<RejectWarnings, 'count'>;
  readonly paused: Pick<PausedPartitions, 'pause' | 'tryAgain' | 'goesOn'>;
  /** Asks how far the local clock is ahead of ClickHouse's. Absent where clocks do not matter. */
  readonly clockAheadMs?: ((of: Pick<Claim, 'topic' | 'partition'>) => Promise<number>) | undefined;
}

const KEEP_ALIVE_MS = 500;
/** A chunk is filled for so many intervals while its partition is behind: larger chunks cost less. */
const INTERVALS_BEHIND = 6;
/** At most so long: a consumer that commits nothing for 20 s more than an interval is not ready. */
const MOST_BEHIND_MS = 20_000;
/** Behind is where more records wait than are read in this time. */
const BEHIND_MS = 1_000;
/** Fewer are read at once, or are markers that nobody is given. */
const LEAST_BEHIND = 1_000;
/** Age of the first chunk of a claim, once nothing waits: the partition was idle during the rebalance. */
const FIRST_CHUNK_MS = 1_000;
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
  #open: OpenChunk;
  /** A predecessor's pending chunk: it must be sealed exactly at its end. */
  #inherited: Intent | undefined;
  #before: ChunkBegin;
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
  /** When it was paused; undefined while it is not. */
  #pausedMs: number | undefined;
  /** Wall clock less the monotonic one, when the clock of the open chunk was set. */
  #clockMs = 0;

  constructor(claim: Claim, start: StartPosition, context: PartitionContext) {
    const { intent, logId, startOffset, leaderEpoch } = start;
    const { watermarkMs = Number.NEGATIVE_INFINITY } = start;
    this.claim = claim;
    this.#context = context;
    const settings = intent?.settings ?? this.#ownSettings();
    if (intent !== undefined) this.#compareFormat(intent);
    this.#start = start;
    this.#mustCommitStart = start.mustCommit;
    this.#open = new OpenChunk(context, settings, claim.topic, claim.partition);
    this.#inherited = intent;
    this.#before = { logId, startOffset, watermarkMs, leaderEpoch };
    this.#begin(this.#before, intent?.nowMs ?? context.clock.nowMs());
  }

  get watermarkMs(): number {
    return this.#open.watermarkMs;
  }

  get cellCount(): number {
    return this.#open.cellCount;
  }

  /** How long the current chunk has been stored for; 0 while none is. */
  storingMs(): number {
    if (this.#flushing === undefined) return 0;
    return this.#context.clock.elapsedMs() - this.#flushingSinceMs;
  }

  /** How long the next record has waited for what it needs, such as its schema; 0 while none waits. */
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
      if (this.#isClockOutdated()) await this.#sealWhenStored(keepAlive);
      if (this.#draining || this.#pausedMs !== undefined) return;
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
    if (this.#inherited !== undefined || this.#flushing !== undefined) return;
    if (this.#context.clock.elapsedMs() - this.#openedMs >= this.#dueMs(intervalMs)) this.seal();
  }

  #dueMs(intervalMs: number): number {
    const waiting = this.#highWatermark - this.#open.nextOffset;
    const areWaiting = waiting > LEAST_BEHIND;
    const openMs = this.#context.clock.elapsedMs() - this.#openedMs;
    if (areWaiting && waiting * openMs > this.#open.records * BEHIND_MS) {
      return Math.min(intervalMs * INTERVALS_BEHIND, Math.max(intervalMs, MOST_BEHIND_MS));
    }
    if (this.#sealed === 0 && !areWaiting) return Math.min(intervalMs, FIRST_CHUNK_MS);
    const { partition } = this.claim;
    // Events that come late complete their window late.
    const delayMs = Math.max(0, this.#openedAtMs - this.#before.watermarkMs);
    const isKnown = Number.isFinite(delayMs);
    const arrivalMs = this.#context.config.windows.grace + (isKnown ? delayMs : 0);
    return untilTurn(this.#openedAtMs, { partition, intervalMs, arrivalMs });
  }

  /** Seals the open chunk and starts to store it. The previous chunk must be stored. */
  seal(): void {
    // After a failed chunk, a later commit would skip it for good.
    if (this.#failure !== undefined || this.#pausedMs !== undefined) return;
    if (this.#open.records === 0 && this.#inherited === undefined) {
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
    const clockMs = this.#clockMs;
    const isFirst = this.#sealed === 0;
    this.#sealed += 1;
    const chunk = this.#withInheritedIdentity(sealed.chunk);
    const start = this.#startOf(chunk, isFirst);
    if (start.inherited) this.#useOwnSettings();
    this.#begin(start.inherited ? this.#afterInherited(chunk) : after(chunk), clock.nowMs());
    this.#flushingSinceMs = clock.elapsedMs();
    this.#flushing = this.#store({ ...sealed, chunk }, start, clockMs)
      .catch((error: unknown) => {
        this.#failure = error;
        if (!(error instanceof ClaimLostError)) this.#context.onFailure(error);
      })
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
    if (this.#inherited === undefined) this.seal();
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
    this.#count(sealed);
    this.#observeDelay(chunk, start);
    metrics.chunkFlushSeconds.observe((clock.elapsedMs() - startedMs) / 1000);
  }

  /** Of an own chunk: an inherited one may be stored in part already. */
  #doubtOf(chunk: Chunk, letters: readonly DeadLetter[]): Doubt | undefined {
    if (this.claim.pause === undefined || this.#inherited !== undefined) return undefined;
    return doubtOf(chunk, letters, this.#context.config.ingest.pause_above_rejected);
  }

  /** Where events were rejected as future: compares the clock by which they were with ClickHouse's. */
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

  /** Gives a recreated chunk its predecessor's identity, even if some records have expired. */
  #withInheritedIdentity(chunk: Chunk): Chunk {
    if (this.#inherited === undefined) return chunk;
    const { counts, endOffset } = this.#inherited;
    const { firstTimestampMs, lastTimestampMs, watermarkMs, leaderEpoch } = counts;
    const differs = counts.records !== chunk.records || counts.consumed !== chunk.consumed;
    this.#context.log[differs ? 'warn' : 'info'](
      { token: chunkToken(chunk), records: chunk.records, records_before: counts.records },
      differs
        ? 'a chunk that a predecessor began had records that are gone by now'
        : 'a chunk that a predecessor began is made again',
    );
    return { ...chunk, endOffset, firstTimestampMs, lastTimestampMs, watermarkMs, leaderEpoch };
  }

  /** Where the next chunk begins. Where the log begins after the chunk's end, the ledger must show the gap. */
  #afterInherited(chunk: Chunk): ChunkBegin {
    const { truncatedAt, readOffset } = this.#start;
    if (truncatedAt === undefined) {
      return { ...after(chunk), startOffset: Math.max(chunk.endOffset, readOffset) };
    }
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
  async #commitStart(): Promise<void> {
    const { startOffset } = this.#start;
    const { storeId } = this.#context;
    const metadata = encodeMetadata({ ...this.#start, storeId, intent: undefined });
    const range = { startOffset, endOffset: startOffset };
    const commit = () => this.claim.commit(startOffset, metadata);
    await persist('commit the start', this.claim, range, commit, this.#context);
    this.#mustCommitStart = false;
  }

  #setClock(): void {
    const { clock } = this.#context;
    this.#open.setClock(clock.nowMs());
    this.#clockMs = clock.nowMs() - clock.elapsedMs();
  }

  #begin(begin: ChunkBegin, nowMs: number): void {
    this.#before = begin;
    this.#setOpened();
    this.#open.begin(begin, nowMs);
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

  #count({ chunk, letters, longTexts }: SealedChunk): void {
    const { metrics } = this.#context;
    const { topic } = chunk;
    metrics.eventsConsumed.inc({ topic }, chunk.consumed);
    metrics.eventsAggregated.inc({ topic }, chunk.aggregated);
    metrics.eventsOverflowed.inc({ topic }, chunk.overflow);
    metrics.eventsUnmapped.inc({ topic }, chunk.unmapped);
    metrics.eventsLateMerged.inc({ topic }, chunk.lateMerged);
    this.#context.lateShare.count(chunk, this.#context.clock.nowMs());
    this.#context.rejectWarnings?.count(chunk, letters, this.#context.clock.elapsedMs());
    for (const { reason } of letters) metrics.eventsDropped.inc({ topic, reason });
    for (const { field, count } of longTexts.list()) metrics.longTexts.inc({ topic, field }, count);
    metrics.chunksFlushed.inc();
    metrics.chunkRows.inc(chunk.rows.rowCount);
  }
}

/** Where the chunk after another one begins. */
function after({ logId, endOffset, watermarkMs, leaderEpoch }: Chunk): ChunkBegin {
  return { logId, startOffset: endOffset, watermarkMs, leaderEpoch };
}
