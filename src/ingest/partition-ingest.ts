import { invariant } from '../base/invariant.ts';
import type { Chunk } from '../sink/chunk.ts';
import type { RecordBatch } from '../source/record.ts';
import { type Claim, ClaimLostError } from '../source/source.ts';
import { type CommitNote, decodeNote } from './commit-note.ts';
import type { DeadLetter } from './dead-letter.ts';
import { type FlushContext, flushChunk } from './flush-chunk.ts';
import { type ChunkContext, OpenChunk } from './open-chunk.ts';

/** What a partition's ingest needs of the world. */
export interface PartitionContext extends ChunkContext, FlushContext {
  readonly nowMs: () => number;
  /** A chunk could not be stored for a reason that doing it again does not mend. */
  readonly onFailure: (error: unknown) => void;
  /** Gives the event loop a turn: timers, sockets, signals. */
  readonly breathe: () => Promise<void>;
}

/** Records decoded before the event loop gets a turn: about 5 ms of work. */
const RECORDS_AT_ONCE = 1_000;
const KEEP_ALIVE_MS = 500;

/**
 * One claimed partition: fills a chunk while the one before it is being stored, never more than
 * that. Where the store does not keep up, `onBatch` does not return, and the source fetches no
 * more: back-pressure instead of buffers.
 */
export class PartitionIngest {
  readonly claim: Claim;
  readonly #context: PartitionContext;
  readonly #open: OpenChunk;
  /** Where an inherited intent ends: the chunk must be sealed exactly there. */
  #boundary: number | undefined;
  #inherited = false;
  #watermarkBeforeMs = Number.NEGATIVE_INFINITY;
  #openedMs = 0;
  #ready = false;
  #draining = false;
  #flushing: Promise<void> | undefined;
  #flushingSinceMs = 0;
  #failure: unknown;
  lagMessages = 0;

  constructor(claim: Claim, context: PartitionContext) {
    this.claim = claim;
    this.#context = context;
    this.#open = new OpenChunk(context, claim.topic, claim.partition);
  }

  get watermarkMs(): number {
    return this.#open.watermarkMs;
  }

  get cellCount(): number {
    return this.#open.cellCount;
  }

  /** How long the chunk that is being stored has been; 0 while none is. */
  storingMs(nowMs: number): number {
    return this.#flushing === undefined ? 0 : nowMs - this.#flushingSinceMs;
  }

  /** Takes a batch; resolves when it is in a chunk (not: when that is stored). */
  async onBatch(batch: RecordBatch, keepAlive: () => Promise<void>): Promise<void> {
    if (!this.#ready) await this.#takeOver(batch, keepAlive);
    const { records } = batch;
    for (let from = 0; from < records.length; ) {
      this.#check();
      if (this.#draining) return;
      from = this.#fill(batch, from);
      if (this.#mustSeal()) {
        await this.#whileStoring(keepAlive);
        if (this.#draining) return;
        this.seal();
      }
      await keepAlive();
      await this.#context.breathe();
    }
    if (this.#boundary === undefined) this.#open.extendTo(batch.nextOffset);
    this.lagMessages = Math.max(0, batch.highWatermark - batch.nextOffset);
  }

  /** Seals the open chunk if it is due and the one before it is stored. */
  sealIfDue(intervalMs: number): void {
    if (!this.#ready || this.#boundary !== undefined || this.#flushing !== undefined) return;
    if (this.#context.nowMs() - this.#openedMs >= intervalMs) this.seal();
  }

  /** Seals what is open and begins to store it. The chunk before it must be stored. */
  seal(): void {
    // After a chunk that could not be stored, a commit further on would leave it out for good.
    if (!this.#ready || this.#failure !== undefined) return;
    if (this.#open.records === 0) {
      this.#passOver();
      return;
    }
    invariant(this.#flushing === undefined, 'a chunk is sealed while another is being stored');
    const { chunk, letters } = this.#open.seal();
    const begun = {
      watermarkBeforeMs: this.#watermarkBeforeMs,
      nowMs: this.#open.nowMs,
      inherited: this.#inherited,
    };
    this.#boundary = undefined;
    this.#inherited = false;
    this.#begin(chunk.endOffset, chunk.watermarkMs, this.#context.nowMs());
    const startedMs = this.#context.nowMs();
    this.#flushingSinceMs = startedMs;
    this.#flushing = flushChunk(this.claim, chunk, letters, begun, this.#context)
      .then(() => {
        this.#count(chunk, letters);
        this.#context.metrics.chunkFlushSeconds.observe((this.#context.nowMs() - startedMs) / 1000);
      })
      .catch((error: unknown) => {
        this.#failure = error;
        if (!(error instanceof ClaimLostError)) this.#context.onFailure(error);
      })
      .finally(() => {
        this.#flushing = undefined;
      });
  }

  /**
   * There is nothing to store. An inherited range in which no record is left (compaction, retention)
   * is given up, as nobody can tell any more what of it is stored: its ledger row is there if its
   * predecessor came that far, else the ledger shows the gap.
   */
  #passOver(): void {
    this.#openedMs = this.#context.nowMs();
    const boundary = this.#boundary;
    if (boundary === undefined) return;
    this.#context.log.error(
      {
        topic: this.claim.topic,
        partition: this.claim.partition,
        start_offset: this.#open.startOffset,
        end_offset: boundary,
      },
      'a chunk that a predecessor began has no record left and is given up',
    );
    this.#boundary = undefined;
    this.#inherited = false;
    this.#begin(boundary, this.#watermarkBeforeMs, this.#context.nowMs());
  }

  /**
   * Stores everything taken so far.
   *
   * @throws ClaimLostError when the claim was lost meanwhile.
   */
  async drain(): Promise<void> {
    this.#draining = true;
    await this.#flushing;
    this.#check();
    // A range that a predecessor began is left to whoever reads all of it.
    if (this.#boundary === undefined) this.seal();
    await this.#flushing;
    this.#check();
  }

  /** A note of another version ends the process: nobody else here could read it either. */
  #noteOf(metadata: string): CommitNote | undefined {
    try {
      return decodeNote(metadata);
    } catch (error) {
      this.#context.onFailure(error);
      throw error;
    }
  }

  /** Reads where to begin: at the committed offset, and up to a predecessor's intent first. */
  async #takeOver(batch: RecordBatch, keepAlive: () => Promise<void>): Promise<void> {
    const committed = await this.claim.committed();
    await keepAlive();
    const note = this.#noteOf(committed.metadata);
    const first = batch.records[0]?.offset ?? batch.nextOffset;
    const start = committed.offset ?? first;
    if (batch.fetchOffset > start) {
      // Reading goes on where a lost claim had stopped; what that one held must be read again.
      this.claim.rewind(start);
      this.#check();
    }
    const intent = note?.intent;
    const watermarkMs = note?.watermarkMs ?? Number.NEGATIVE_INFINITY;
    const pending = intent !== undefined && intent.endOffset > start;
    if (pending) {
      this.#boundary = intent.endOffset;
      this.#inherited = true;
    }
    this.#begin(start, watermarkMs, pending ? intent.nowMs : this.#context.nowMs());
    this.#ready = true;
    this.#context.log.info(
      {
        topic: this.claim.topic,
        partition: this.claim.partition,
        offset: start,
        ...(pending ? { pending_until: intent.endOffset } : {}),
      },
      'partition taken',
    );
  }

  #begin(startOffset: number, watermarkMs: number, nowMs: number): void {
    this.#watermarkBeforeMs = watermarkMs;
    this.#openedMs = this.#context.nowMs();
    this.#open.begin(startOffset, watermarkMs, nowMs);
  }

  /** Puts records into the open chunk, up to a boundary or its size; returns the next index. */
  #fill(batch: RecordBatch, from: number): number {
    const { records } = batch;
    const end = Math.min(records.length, from + RECORDS_AT_ONCE);
    let at = from;
    for (; at < end; at++) {
      const record = records[at];
      if (record === undefined || record.offset < this.#open.nextOffset) continue;
      if (this.#boundary !== undefined && record.offset >= this.#boundary) {
        this.#open.extendTo(this.#boundary);
        break;
      }
      this.#open.take(record);
      if (this.#open.isFull && this.#boundary === undefined) return at + 1;
    }
    if (
      this.#boundary !== undefined &&
      at === records.length &&
      batch.nextOffset >= this.#boundary
    ) {
      this.#open.extendTo(this.#boundary);
    }
    return at;
  }

  /** An inherited range ends exactly where its intent says; any other when it is large enough. */
  #mustSeal(): boolean {
    if (this.#boundary !== undefined) return this.#open.nextOffset >= this.#boundary;
    return this.#open.isFull;
  }

  /** Waits for the chunk before, and keeps the claim alive meanwhile. */
  async #whileStoring(keepAlive: () => Promise<void>): Promise<void> {
    while (this.#flushing !== undefined) {
      await Promise.race([this.#flushing, this.#context.sleep(KEEP_ALIVE_MS)]);
      await keepAlive();
      this.#check();
    }
  }

  #check(): void {
    if (this.claim.isLost) throw new ClaimLostError(`${this.claim.topic}/${this.claim.partition}`);
    if (this.#failure !== undefined) throw this.#failure;
  }

  #count(chunk: Chunk, letters: readonly DeadLetter[]): void {
    const { metrics } = this.#context;
    metrics.eventsConsumed.inc(chunk.consumed);
    metrics.eventsAggregated.inc(chunk.aggregated);
    metrics.eventsOverflowed.inc(chunk.overflow);
    metrics.eventsLateMerged.inc(chunk.lateMerged);
    for (const letter of letters) metrics.eventsDropped.inc({ reason: letter.reason });
    metrics.deadLetters.inc(letters.length);
    metrics.chunksFlushed.inc();
    metrics.chunkRows.inc(chunk.rows.rowCount);
  }
}
