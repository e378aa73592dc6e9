import { invariant } from '../../base/invariant.ts';
import { limits } from '../../base/limits.ts';
import type { Config } from '../../config/schema.ts';
import { completionMs } from '../../decode/completion-ms.ts';
import type { DecodedEvent } from '../../decode/decoded-event.ts';
import type { DecodeSink, EventDecoder } from '../../decode/event-decoder.ts';
import { LongTexts } from '../../decode/long-texts.ts';
import { MessageDecoder } from '../../decode/message/message-decoder.ts';
import type { RejectReason } from '../../decode/reject-reasons.ts';
import type { Chunk } from '../../sink/chunks/chunk.ts';
import type { ChunkBlock } from '../../sink/chunks/chunk-block.ts';
import { encodeChunk } from '../../sink/chunks/encode-chunk.ts';
import type { SourceRecord } from '../../source/record.ts';
import type { TopicFormats } from '../../topics/topic-formats.ts';
import { ChunkAccumulator } from '../../window/chunk-accumulator.ts';
import { outcomes } from '../../window/outcome.ts';
import { type DeadLetter, deadLetterBytes } from '../letters/dead-letter.ts';
import type { ChunkSettings } from './chunk-settings.ts';
import type { MemoryPart, OpenMemory } from './open-memory.ts';

export interface ChunkContext {
  readonly config: Config;
  readonly groupId: string;
  readonly block: ChunkBlock;
  /** Memory of all open chunks. Absent where there is one. */
  readonly memory?: OpenMemory;
  /** Absent where every topic holds timing events. */
  readonly formats?: Pick<TopicFormats, 'decoderOf' | 'identityOf'> | undefined;
}

/** Start of a chunk. */
export interface ChunkBegin {
  readonly logId: string;
  readonly startOffset: number;
  /** Event time and leader epoch reached before it. */
  readonly watermarkMs: number;
  readonly leaderEpoch: number;
}

/** Rows of a chunk, its dead letters, and other facts on its records. */
export interface SealedChunk {
  readonly chunk: Chunk;
  readonly letters: readonly DeadLetter[];
  readonly longTexts: LongTexts;
}

/** The beginning of a log without ids and records before it. */
export const emptyBegin: ChunkBegin = {
  logId: '',
  startOffset: 0,
  watermarkMs: Number.NEGATIVE_INFINITY,
  leaderEpoch: -1,
};

/**
 * The open chunk of a partition. Records go in; sealing returns one block of rows, the ledger's counts, and
 * the dead letters.
 *
 * The result is a function of the records, the settings and the arguments of `begin` only: every chunk
 * interns names again. So a successor makes the same chunk.
 */
export class OpenChunk implements DecodeSink {
  readonly #context: ChunkContext;
  readonly settings: ChunkSettings;
  readonly #decoder: EventDecoder;
  readonly #accumulator: ChunkAccumulator;
  readonly #memory: MemoryPart | undefined;
  readonly #topic: string;
  readonly #partition: number;
  #watermarkBeforeMs = Number.NEGATIVE_INFINITY;
  #logId = '';
  #leaderEpoch = -1;
  #startOffset = 0;
  #nextOffset = 0;
  #firstTimestampMs = 0;
  #lastTimestampMs = 0;
  #records = 0;
  #consumed = 0;
  #unmapped = 0;
  #removedOffsets = 0;
  /** Removed records count from this offset on. */
  #removedFrom = 0;
  #longTexts = new LongTexts();
  #letters: DeadLetter[] = [];
  #letterBytes = 0;
  #record: SourceRecord = { offset: 0, timestampMs: 0, value: null };
  #index = 0;

  constructor(context: ChunkContext, settings: ChunkSettings, topic: string, partition: number) {
    this.#context = context;
    this.settings = settings;
    this.#topic = topic;
    this.#partition = partition;
    this.#accumulator = new ChunkAccumulator(settings);
    this.#memory = context.memory?.part();
    const { stages, values } = this.#accumulator;
    const options = { ...settings, stages, values };
    this.#decoder = context.formats?.decoderOf(topic, options) ?? new MessageDecoder(options);
  }

  /** Starts a chunk; see ChunkAccumulator.begin. */
  begin({ logId, startOffset, watermarkMs, leaderEpoch }: ChunkBegin, nowMs: number): void {
    this.#accumulator.begin(watermarkMs, nowMs);
    this.#memory?.use(0);
    this.#watermarkBeforeMs = watermarkMs;
    this.#logId = logId;
    this.#leaderEpoch = leaderEpoch;
    this.#startOffset = startOffset;
    this.#nextOffset = startOffset;
    this.#firstTimestampMs = 0;
    this.#lastTimestampMs = 0;
    this.#records = 0;
    this.#consumed = 0;
    this.#unmapped = 0;
    this.#removedOffsets = 0;
    this.#longTexts = new LongTexts();
    this.#letters = [];
    this.#letterBytes = 0;
  }

  get nextOffset(): number {
    return this.#nextOffset;
  }

  get records(): number {
    return this.#records;
  }

  get watermarkMs(): number {
    return this.#accumulator.watermarkMs;
  }

  get nowMs(): number {
    return this.#accumulator.nowMs;
  }

  /** Sets the clock at the first record, because the chunk may have been empty for days. */
  setClock(nowMs: number): void {
    invariant(this.#records === 0, 'the clock of a chunk is changed under its records');
    this.#accumulator.setClock(nowMs);
  }

  get cellCount(): number {
    return this.#accumulator.cellCount;
  }

  /** True if it has reached one of the configured sizes, or its part of the memory. */
  get isFull(): boolean {
    const { flush_max_rows, flush_max_events } = this.#context.config.ingest;
    return (
      this.#accumulator.rowCount >= flush_max_rows ||
      this.#memory?.isUsedUp === true ||
      this.#accumulator.windowCount >= limits.windowsPerChunk / 2 ||
      this.#consumed >= flush_max_events ||
      this.#letters.length >= limits.deadLettersPerChunk ||
      this.#letterBytes >= limits.deadLetterBytesPerChunk
    );
  }

  /** True if records must be prepared before they are added. */
  get mustPrepare(): boolean {
    return this.#decoder.prepare !== undefined;
  }

  /** Fetches what must be there before a record can be added; undefined where it is there. */
  prepare(record: SourceRecord): Promise<void> | undefined {
    const { value, headers, refused } = record;
    if (value === null || refused !== undefined) return undefined;
    return this.#decoder.prepare?.(value, headers);
  }

  /** Adds a record that is prepared. Invalid content does not throw. */
  add(record: SourceRecord): void {
    // Producers may write any timestamp, or none (-1); the ledger's columns have a limit.
    const timestampMs = Math.min(Math.max(0, record.timestampMs), limits.timestampMs);
    if (this.#records === 0) this.#firstTimestampMs = timestampMs;
    this.#lastTimestampMs = Math.max(this.#lastTimestampMs, timestampMs);
    this.#leaderEpoch = record.leaderEpoch ?? -1;
    const { removedBefore = 0 } = record;
    if (removedBefore > 0) this.#countRemoved(removedBefore, record.offset);
    this.#records++;
    this.#record = record;
    this.#index = 0;
    if (record.refused === undefined) {
      this.#consumed += this.#decoder.decode(record.value, this, record.headers);
    } else {
      // A record that its source has rejected counts as one rejected event.
      const { reason, detail, originalBytes } = record.refused;
      this.#keepLetter(0, reason, detail, record.value, originalBytes);
      this.#consumed++;
    }
    this.#nextOffset = record.offset + 1;
    this.#memory?.use(this.#accumulator.bytes);
  }

  /** Gives its memory back: it is not read on. */
  close(): void {
    this.#memory?.close();
  }

  /**
   * Extends the range over offsets without visible records.
   *
   * @param leaderEpoch of the record before `offset`; undefined where it is not known.
   */
  extendTo(offset: number, leaderEpoch?: number): void {
    if (offset <= this.#nextOffset) return;
    this.#nextOffset = offset;
    this.#leaderEpoch = leaderEpoch ?? this.#leaderEpoch;
  }

  /** Sets the offset before which removed records were gone, as far as known, when the group began. */
  countRemovedFrom(offset: number): void {
    this.#removedFrom = offset;
  }

  /** Extends the range to the end of a batch, of whose last offsets some records are removed. */
  endBatch(offset: number, leaderEpoch: number | undefined, removed: number): void {
    if (removed > 0) this.#countRemoved(removed, offset);
    this.extendTo(offset, leaderEpoch);
  }

  /** Counts removed offsets up to this one, at most those after the last one. */
  #countRemoved(removed: number, upTo: number): void {
    const from = Math.max(this.#nextOffset, this.#removedFrom);
    this.#removedOffsets += Math.max(0, Math.min(removed, upTo - from));
  }

  /** Extends the range over offsets whose records Kafka has removed, unread. */
  passRemoved(offset: number): void {
    this.#removedOffsets += Math.max(0, offset - this.#nextOffset);
    this.extendTo(offset);
  }

  event(event: DecodedEvent, start: number, end: number): void {
    const index = this.#index++;
    if (event.longTexts !== 0) this.#longTexts.add(event.longTexts);
    const outcome = this.#accumulator.add(event);
    if (outcome === outcomes.late) {
      const { watermarkMs, nowMs, settings } = this;
      const behindMs = Math.min(watermarkMs, nowMs) - completionMs(event);
      const detail = `ts plus the duration is ${behindMs / 1000} s behind the watermark of the partition (windows.allowed_lateness: ${settings.allowedLatenessMs / 1000} s)`;
      this.#addLetter(index, 'late', detail, start, end);
    } else if (outcome === outcomes.future) {
      const endMs = completionMs(event);
      const aheadMs = endMs - this.nowMs;
      const detail = `ts plus the duration is ${aheadMs / 1000} s ahead of the clock of the ingesting process (windows.max_future: ${this.settings.maxFutureMs / 1000} s): ${new Date(endMs).toISOString()}`;
      this.#addLetter(index, 'future', detail, start, end);
    } else if (outcome === outcomes.tooManyWindows) {
      this.#addLetter(
        index,
        'too_many_windows',
        'in a window beyond those a chunk holds',
        start,
        end,
      );
    }
  }

  reject(index: number, reason: RejectReason, detail: string, start: number, end: number): void {
    this.#index = index + 1;
    this.#addLetter(index, reason, detail, start, end);
  }

  skip(count: number): void {
    this.#index += count;
    this.#unmapped += count;
  }

  /**
   * Seals the chunk and returns its contents; `begin` starts the next.
   *
   * Future events count as rejected, so that consumed = aggregated + rejected + late + overflow + unmapped
   * holds exactly in the ledger.
   *
   * @param sealedMs the clock. It limits the watermark, in case a producer's clock is ahead.
   */
  seal(sealedMs: number): SealedChunk {
    const { groupId, block } = this.#context;
    const { aggregated, late, overflow, lateMerged, weight } = this.#accumulator.counts;
    const origin = {
      groupId,
      topic: this.#topic,
      partition: this.#partition,
      logId: this.#logId,
      startOffset: this.#startOffset,
    };
    return {
      letters: this.#letters,
      longTexts: this.#longTexts,
      chunk: {
        ...origin,
        endOffset: this.#nextOffset,
        firstTimestampMs: this.#firstTimestampMs,
        lastTimestampMs: this.#lastTimestampMs,
        leaderEpoch: this.#leaderEpoch,
        watermarkMs: Math.max(
          this.#watermarkBeforeMs,
          Math.min(this.#accumulator.watermarkMs, sealedMs),
        ),
        records: this.#records,
        consumed: this.#consumed,
        aggregated,
        rejected: this.#consumed - aggregated - late - overflow - this.#unmapped,
        late,
        overflow,
        unmapped: this.#unmapped,
        weight,
        lateMerged,
        removedEvents: 0,
        removedOffsets: this.#removedOffsets,
        rows: encodeChunk(this.#accumulator, { ...origin, nowMs: this.nowMs }, block),
      },
    };
  }

  /** Adds a dead letter of what stands at `[start, end)` in the record. */
  #addLetter(
    index: number,
    reason: RejectReason,
    detail: string,
    start: number,
    end: number,
  ): void {
    const { value } = this.#record;
    const letter = value === null ? null : this.#decoder.letter(value, start, end);
    this.#keepLetter(index, reason, detail, letter, letter?.length ?? 0);
  }

  #keepLetter(
    index: number,
    reason: RejectReason,
    detail: string,
    letter: Buffer | null,
    originalBytes: number,
  ): void {
    const bytes = letter && deadLetterBytes(letter);
    this.#letterBytes += bytes?.length ?? 0;
    this.#letters.push({
      topic: this.#topic,
      partition: this.#partition,
      logId: this.#logId,
      offset: this.#record.offset,
      index,
      reason,
      detail,
      bytes,
      originalBytes,
    });
  }
}
