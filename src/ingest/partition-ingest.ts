import { invariant } from '../base/invariant.ts';
import { minuteMs } from '../base/time.ts';
import type { Chunk } from '../sink/chunks/chunk.ts';
import type { RecordBatch } from '../source/record.ts';
import { type Claim, ClaimLostError, claimName } from '../source/source.ts';
import { type ChunkSettings, chunkSettingsOf } from './chunk/chunk-settings.ts';
import { fillChunk } from './chunk/fill-chunk.ts';
import { type ChunkContext, OpenChunk, type SealedChunk } from './chunk/open-chunk.ts';
import { ChunkFlush, type ChunkStart, commitStart, type FlushContext } from './chunk-flush.ts';
import { dueMs } from './chunk-turn.ts';
import { countsOf, type Intent } from './commit-metadata.ts';
import type { LateShare } from './late-share.ts';
import type { DeadLetter } from './letters/dead-letter.ts';
import type { RejectWarnings } from './letters/reject-warnings.ts';
import { madeAgain } from './made-again.ts';
import { OpenRange } from './open-range.ts';
import {
  type ClockContext,
  type Doubt,
  doubtOf,
  doubtOfClock,
  type PausedPartitions,
} from './paused-partitions.ts';
import type { PersistContext } from './persist.ts';
import type { StartPosition, UnstoredLog } from './start-position.ts';

interface CountContext extends Pick<PersistContext, 'clock' | 'metrics'> {
  readonly lateShare: Pick<LateShare, 'count'>;
  /** Absent where nobody reads the log. */
  readonly rejectWarnings?: Pick<RejectWarnings, 'count'>;
}

export interface PartitionContext extends ChunkContext, FlushContext, CountContext, ClockContext {
  /** Called when a chunk cannot be stored and a retry does not help. */
  readonly onFailure: (error: unknown) => void;
  readonly paused: Pick<PausedPartitions, 'pause' | 'tryAgain' | 'goesOn'>;
}

const KEEP_ALIVE_MS = 500;
/** Time from a pause until its records are read again. Fetches from before the pause have ended by then. */
const PAUSE_MS = minuteMs;

/** The state of a partition's ingest. It only goes forward, in this order. */
type State =
  | { readonly is: 'reading' }
  /** What was read is stored, and no more is read. */
  | { readonly is: 'draining' }
  /** Nothing is stored until another claim reads its records again. */
  | { readonly is: 'paused'; readonly sinceMs: number }
  /** A chunk could not be stored: a later commit would skip it for good. */
  | { readonly is: 'failed'; readonly error: unknown };

const order: readonly State['is'][] = ['reading', 'draining', 'paused', 'failed'];

/** Returns the state that an event leads to: the event's own, unless a later one is reached. */
function stateAfter(state: State, event: State): State {
  return order.indexOf(event.is) < order.indexOf(state.is) ? state : event;
}

/** A chunk that is being stored, or that could not be. */
interface Storing extends Pick<UnstoredLog, 'startOffset' | 'intent'> {
  readonly sinceMs: number;
  /** Resolves when it is stored, and when it could not be. */
  readonly done: Promise<void>;
}

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
  #state: State = { is: 'reading' };
  readonly #range: OpenRange;
  #open: OpenChunk;
  /** Time at which the open chunk was begun, by both clocks. */
  #opened = { elapsedMs: 0, nowMs: 0 };
  /** Wall clock less the monotonic one, when the clock of the open chunk was set. */
  #clockMs = 0;
  /** True until a chunk of the claim is sealed. */
  #isFirst = true;
  /** The chunk before the open one, until it is stored. */
  #storing: Storing | undefined;
  /** End of the log when it was read last. */
  #highWatermark = 0;
  #waitingSinceMs: number | undefined;

  constructor(claim: Claim, start: StartPosition, context: PartitionContext) {
    this.claim = claim;
    this.#context = context;
    this.#start = start;
    this.#mustCommitStart = start.mustCommit;
    this.#range = new OpenRange(start);
    const intent = this.#range.inherited;
    const settings = intent?.settings ?? this.#ownSettings();
    if (intent !== undefined) this.#compareFormat(intent);
    this.#open = this.#newChunk(settings);
    this.#begin(intent?.nowMs ?? context.clock.nowMs());
  }

  get watermarkMs(): number {
    return this.#open.watermarkMs;
  }

  /** Records that are known and not stored, for the next owner of the partition. */
  get unstored(): UnstoredLog {
    const known = this.#range.unstored(this.#open.nextOffset, this.#highWatermark);
    if (this.#storing === undefined) return known;
    const { startOffset, intent } = this.#storing;
    return { ...known, startOffset, intent };
  }

  get cellCount(): number {
    return this.#open.cellCount;
  }

  /** Time for which the current chunk has been stored; 0 while none is. */
  storingMs(): number {
    if (this.#storing === undefined || !this.#isStoring) return 0;
    return this.#context.clock.elapsedMs() - this.#storing.sinceMs;
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
      if (this.#state.is !== 'reading') return;
      if (this.#range.isRemoved || this.#isClockOutdated()) {
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
    if (this.#state.is === 'paused') this.#readAgainIfDue(this.#state.sinceMs);
    // A record that is read again first shows whether the log still is the one.
    const { readOffset, startOffset } = this.#start;
    if (this.#mustCommitStart && readOffset >= startOffset) this.#commitStart().catch(this.#fail);
    if (this.#mustCommitStart || this.#isStoring) return;
    if (this.#range.isRemoved) this.seal();
    if (this.#range.inherited !== undefined || this.#isStoring) return;
    if (this.#openMs() >= this.#dueMs(intervalMs)) this.seal();
  }

  #dueMs(intervalMs: number): number {
    return dueMs(intervalMs, {
      partition: this.claim.partition,
      records: this.#open.records,
      waiting: this.#highWatermark - this.#open.nextOffset,
      openMs: this.#openMs(),
      openedAtMs: this.#opened.nowMs,
      watermarkMs: this.#range.begin.watermarkMs,
      graceMs: this.#context.config.windows.grace,
      isFirst: this.#isFirst,
    });
  }

  /** Seals the open chunk and starts to store it. The previous chunk must be stored. */
  seal(): void {
    if (this.#state.is === 'paused' || this.#state.is === 'failed') return;
    const { inherited, isRemoved } = this.#range;
    if (this.#open.records === 0 && inherited === undefined && !isRemoved) {
      this.#setOpened();
      return;
    }
    invariant(this.#storing === undefined, 'a chunk is sealed while another is being stored');
    const { clock, log } = this.#context;
    const sealed = this.#open.seal(clock.nowMs());
    const doubt = this.#doubtOf(sealed.chunk, sealed.letters);
    if (doubt !== undefined) {
      this.#pause(doubt);
      return;
    }
    const chunk = madeAgain(sealed.chunk, inherited, log);
    const start = this.#startOf(chunk);
    const clockMs = this.#clockMs;
    this.#isFirst = false;
    this.#range.pass(chunk);
    if (inherited !== undefined) this.#useOwnSettings();
    this.#begin(clock.nowMs());
    this.#storing = {
      startOffset: chunk.startOffset,
      intent: start.intent,
      sinceMs: clock.elapsedMs(),
      done: this.#store({ ...sealed, chunk }, start, clockMs).catch(this.#fail),
    };
  }

  /** Drops what is not stored: another member reads it again. */
  close(): void {
    this.#open.close();
  }

  /** Stores everything read so far. @throws ClaimLostError when the claim was lost meanwhile. */
  async drain(): Promise<void> {
    this.#state = stateAfter(this.#state, { is: 'draining' });
    await this.#storing?.done;
    this.#check();
    // A predecessor's unfinished range is left to a successor that reads all of it.
    if (this.#range.inherited === undefined || this.#range.isRemoved) this.seal();
    await this.#storing?.done;
    this.#check();
  }

  async #store(sealed: SealedChunk, start: ChunkStart, clockMs: number): Promise<void> {
    const { chunk, letters } = sealed;
    const { clock, metrics, paused } = this.#context;
    const startedMs = clock.elapsedMs();
    if (!start.inherited) {
      const doubt = await doubtOfClock(this.claim, sealed, clockMs, this.#context);
      if (doubt !== undefined) {
        this.#pause(doubt);
        return;
      }
    }
    paused.goesOn(this.claim);
    await new ChunkFlush(this.claim, chunk, letters, start, this.#context).run();
    this.#storing = undefined;
    countStored(sealed, start.before.watermarkMs, this.#context);
    metrics.chunkFlushSeconds.observe((clock.elapsedMs() - startedMs) / 1000);
  }

  /** Of an own chunk: an inherited one may be stored in part already. */
  #doubtOf(chunk: Chunk, letters: readonly DeadLetter[]): Doubt | undefined {
    if (this.claim.pause === undefined || this.#range.inherited !== undefined) return undefined;
    return doubtOf(chunk, letters, this.#context.config.ingest.pause_above_rejected);
  }

  /** Stores nothing of a chunk, or after it, until its records are read again. */
  #pause(doubt: Doubt): void {
    const { paused, clock } = this.#context;
    this.#state = stateAfter(this.#state, { is: 'paused', sinceMs: clock.elapsedMs() });
    this.claim.pause?.();
    paused.pause(this.claim, doubt);
  }

  #readAgainIfDue(pausedMs: number): void {
    const { paused, clock } = this.#context;
    if (clock.elapsedMs() - pausedMs < PAUSE_MS) return;
    paused.tryAgain(this.claim);
    this.claim.readAgain?.();
  }

  #startOf(chunk: Chunk): ChunkStart {
    const { endOffset } = chunk;
    const { nowMs, settings } = this.#open;
    const { begin, inherited } = this.#range;
    return {
      before: begin,
      intent: inherited ?? { endOffset, nowMs, settings, counts: countsOf(chunk) },
      inherited: inherited !== undefined,
      isFirst: this.#isFirst,
    };
  }

  /** Switches to the configured settings after the predecessor's chunk. */
  #useOwnSettings(): void {
    this.#open.close();
    this.#open = this.#newChunk(this.#ownSettings());
  }

  #newChunk(settings: ChunkSettings): OpenChunk {
    const { topic, partition } = this.claim;
    const chunk = new OpenChunk(this.#context, settings, topic, partition);
    chunk.countRemovedFrom(this.#start.removedFrom);
    return chunk;
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
    this.#state = stateAfter(this.#state, { is: 'failed', error });
    if (!(error instanceof ClaimLostError)) this.#context.onFailure(error);
  };

  #setClock(): void {
    const { clock } = this.#context;
    this.#open.setClock(clock.nowMs());
    this.#clockMs = clock.nowMs() - clock.elapsedMs();
  }

  /** Begins a chunk of the range. */
  #begin(nowMs: number): void {
    const { begin, removedTo } = this.#range;
    this.#setOpened();
    this.#open.begin(begin, nowMs);
    if (removedTo !== undefined) this.#open.passRemoved(removedTo);
  }

  #setOpened(): void {
    const { clock } = this.#context;
    this.#opened = { elapsedMs: clock.elapsedMs(), nowMs: clock.nowMs() };
  }

  #openMs(): number {
    return this.#context.clock.elapsedMs() - this.#opened.elapsedMs;
  }

  /** True while a chunk may still be stored. */
  get #isStoring(): boolean {
    const { is } = this.#state;
    return this.#storing !== undefined && is !== 'paused' && is !== 'failed';
  }

  /** Adds some records to the open chunk; returns what the next record waits for. */
  #fill(batch: RecordBatch): Promise<void> | undefined {
    const { boundary } = this.#range;
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
    while (!isDone && this.#state.is === 'reading') {
      await Promise.race([done, this.#context.clock.sleep(KEEP_ALIVE_MS)]);
      await keepAlive();
      this.#check();
    }
    this.#waitingSinceMs = undefined;
  }

  /** An inherited range ends exactly at its intent's end, any other when it is full. */
  #mustSeal(): boolean {
    const { boundary } = this.#range;
    return boundary === undefined ? this.#open.isFull : this.#open.nextOffset >= boundary;
  }

  /**
   * True if the chunk's clock is too old for new records: the chunk stays open while ClickHouse is down, and
   * later records must not count as future ones.
   */
  #isClockOutdated(): boolean {
    if (this.#range.inherited !== undefined || this.#open.records === 0) return false;
    const ageMs = Math.abs(this.#context.clock.nowMs() - this.#open.nowMs);
    return ageMs > this.#open.settings.maxFutureMs / 2;
  }

  /**
   * Seals once the previous chunk is stored, and keeps the claim alive meanwhile. Does not seal in a drain.
   */
  async #sealWhenStored(keepAlive: () => Promise<void>): Promise<void> {
    // One message may take as long as sealing its chunk, so both get a turn.
    await this.#context.clock.yieldToEventLoop();
    while (this.#isStoring) {
      await Promise.race([this.#storing?.done, this.#context.clock.sleep(KEEP_ALIVE_MS)]);
      await keepAlive();
      this.#check();
    }
    if (this.#state.is !== 'draining') this.seal();
  }

  #check(): void {
    if (this.claim.isLost) throw new ClaimLostError(claimName(this.claim));
    if (this.#state.is === 'failed') throw this.#state.error;
  }
}

/**
 * Counts what is in a chunk, once it is stored.
 *
 * @param beforeMs event time that was reached before it.
 */
function countStored(
  { chunk, letters, longTexts }: SealedChunk,
  beforeMs: number,
  { clock, metrics, lateShare, rejectWarnings }: CountContext,
): void {
  const { topic } = chunk;
  metrics.eventsConsumed.inc({ topic }, chunk.consumed);
  metrics.eventsAggregated.inc({ topic }, chunk.aggregated);
  metrics.eventsOverflowed.inc({ topic }, chunk.overflow);
  metrics.eventsUnmapped.inc({ topic }, chunk.unmapped);
  metrics.eventsLateMerged.inc({ topic }, chunk.lateMerged);
  lateShare.count(chunk, clock.nowMs());
  rejectWarnings?.count(chunk, letters, clock.elapsedMs());
  for (const { reason } of letters) metrics.eventsDropped.inc({ topic, reason });
  for (const { field, count } of longTexts.list()) metrics.longTexts.inc({ topic, field }, count);
  metrics.chunksFlushed.inc();
  metrics.chunkRows.inc(chunk.rows.rowCount);
  // A chunk with late events only says nothing of how fresh the stored events are.
  if (chunk.watermarkMs <= beforeMs) return;
  const delayMs = Math.max(0, clock.nowMs() - chunk.watermarkMs);
  metrics.eventStoredSeconds.observe(delayMs / 1000);
}
