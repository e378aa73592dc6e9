import { invariant } from '../base/invariant.ts';
import { limits } from '../base/limits.ts';
import type { Config } from '../config/schema.ts';
import type { EventRecord } from '../decode/event-record.ts';
import { Interner } from '../decode/interner.ts';
import { type DecodeSink, MessageDecoder } from '../decode/message-decoder.ts';
import type { RejectReason } from '../decode/reject-reasons.ts';
import type { Chunk } from '../sink/chunks/chunk.ts';
import { encodeChunk } from '../sink/chunks/encode-chunk.ts';
import type { RowBinaryWriter } from '../sink/row-binary/row-binary-writer.ts';
import type { SourceRecord } from '../source/record.ts';
import type { RefusedRecord } from '../source/refused-record.ts';
import { ChunkAccumulator } from '../window/chunk-accumulator.ts';
import { outcomes } from '../window/outcome.ts';
import type { ChunkSettings } from './chunk-settings.ts';
import { type DeadLetter, deadLetterBytes } from './dead-letter.ts';

/** What all chunks of a process share. */
export interface ChunkContext {
  readonly config: Config;
  readonly groupId: string;
  readonly writer: RowBinaryWriter;
  /** Rows at which a chunk is sealed early, as many are open. @default {flush_max_rows} */
  readonly rowShare?: () => number;
}

/**
 * The chunk of a partition that is being filled: records in; out of it, when sealed, one block of
 * rows with its ledger figures, and the dead letters of what was not counted.
 *
 * What comes out is a function of the records, the settings and what `begin` is given, and of
 * nothing else: names are told apart anew in every chunk. So whoever makes it again makes the same.
 */
export class OpenChunk implements DecodeSink {
  readonly #context: ChunkContext;
  readonly settings: ChunkSettings;
  readonly #stages = new Interner(limits.stageNames);
  readonly #values = new Interner(limits.internedValues);
  readonly #decoder: MessageDecoder;
  readonly #accumulator: ChunkAccumulator;
  readonly #topic: string;
  readonly #partition: number;
  #watermarkBeforeMs = Number.NEGATIVE_INFINITY;
  #startOffset = 0;
  #nextOffset = 0;
  #firstTimestampMs = 0;
  #lastTimestampMs = 0;
  #records = 0;
  #consumed = 0;
  #letters: DeadLetter[] = [];
  #letterBytes = 0;
  #record: SourceRecord = { offset: 0, timestampMs: 0, value: null };
  #index = 0;

  constructor(context: ChunkContext, settings: ChunkSettings, topic: string, partition: number) {
    this.#context = context;
    this.settings = settings;
    this.#topic = topic;
    this.#partition = partition;
    const names = { stages: this.#stages, values: this.#values };
    this.#decoder = new MessageDecoder({ ...settings, ...names });
    this.#accumulator = new ChunkAccumulator({ ...settings, ...names });
  }

  /** Starts over at an offset; see ChunkAccumulator.begin. */
  begin(startOffset: number, watermarkMs: number, nowMs: number): void {
    this.#stages.clear();
    this.#values.clear();
    this.#accumulator.begin(watermarkMs, nowMs);
    this.#watermarkBeforeMs = watermarkMs;
    this.#startOffset = startOffset;
    this.#nextOffset = startOffset;
    this.#firstTimestampMs = 0;
    this.#lastTimestampMs = 0;
    this.#records = 0;
    this.#consumed = 0;
    this.#letters = [];
    this.#letterBytes = 0;
  }

  get startOffset(): number {
    return this.#startOffset;
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

  /** The clock of a chunk is that of its first record: it may have been empty for days. */
  setClock(nowMs: number): void {
    invariant(this.#records === 0, 'the clock of a chunk is changed under its records');
    this.#accumulator.setClock(nowMs);
  }

  get cellCount(): number {
    return this.#accumulator.cellCount;
  }

  /** Whether it has come to one of the configured sizes. */
  get isFull(): boolean {
    const { flush_max_rows, flush_max_events } = this.#context.config.ingest;
    const share = this.#context.rowShare?.() ?? flush_max_rows;
    const mostRows = Math.min(flush_max_rows, share);
    return (
      this.#accumulator.rowCount >= mostRows ||
      this.#accumulator.bandCount >= mostRows * limits.bandsPerRow ||
      this.#accumulator.windowCount >= limits.windowsPerChunk / 2 ||
      this.#consumed >= flush_max_events ||
      this.#letters.length >= limits.deadLettersPerChunk ||
      this.#letterBytes >= limits.deadLetterBytesPerChunk
    );
  }

  /** Takes one record. Never throws for what is in it. */
  add(record: SourceRecord): void {
    // A producer may write any timestamp, or none (-1); the ledger's columns hold these.
    const timestampMs = Math.min(Math.max(0, record.timestampMs), limits.timestampMs);
    if (this.#records === 0) this.#firstTimestampMs = timestampMs;
    this.#lastTimestampMs = Math.max(this.#lastTimestampMs, timestampMs);
    this.#records++;
    this.#record = record;
    this.#index = 0;
    this.#consumed +=
      record.refused === undefined
        ? this.#decoder.decode(record.value, this)
        : this.#refuse(record.value, record.refused);
    this.#nextOffset = record.offset + 1;
  }

  /** The range reaches to here, although its last offsets hold no record. */
  extendTo(offset: number): void {
    this.#nextOffset = Math.max(this.#nextOffset, offset);
  }

  event(record: EventRecord, start: number, end: number): void {
    const index = this.#index++;
    const outcome = this.#accumulator.add(record);
    if (outcome === outcomes.late) {
      this.#bury(index, 'late', 'behind the allowed lateness', start, end);
    } else if (outcome === outcomes.future) {
      this.#bury(index, 'future', 'ahead of the clock', start, end);
    } else if (outcome === outcomes.tooManyWindows) {
      this.#bury(index, 'too_many_windows', 'in a window beyond those a chunk holds', start, end);
    }
  }

  reject(index: number, reason: RejectReason, detail: string, start: number, end: number): void {
    this.#index = index + 1;
    this.#bury(index, reason, detail, start, end);
  }

  /**
   * Ends the chunk and hands over what it holds; `begin` makes the next of it.
   *
   * Future events count as rejected in the ledger, where consumed = aggregated + rejected + late +
   * overflow holds exactly.
   *
   * @param sealedMs the clock: the partition has not come further than that, whatever one producer
   *   with a fast clock says.
   */
  seal(sealedMs: number): { readonly chunk: Chunk; readonly letters: readonly DeadLetter[] } {
    const { groupId, writer } = this.#context;
    const { aggregated, late, overflow, lateMerged } = this.#accumulator.counts;
    const origin = {
      groupId,
      topic: this.#topic,
      partition: this.#partition,
      startOffset: this.#startOffset,
    };
    return {
      letters: this.#letters,
      chunk: {
        ...origin,
        endOffset: this.#nextOffset,
        firstTimestampMs: this.#firstTimestampMs,
        lastTimestampMs: this.#lastTimestampMs,
        watermarkMs: Math.max(
          this.#watermarkBeforeMs,
          Math.min(this.#accumulator.watermarkMs, sealedMs),
        ),
        records: this.#records,
        consumed: this.#consumed,
        aggregated,
        rejected: this.#consumed - aggregated - late - overflow,
        late,
        overflow,
        lateMerged,
        rows: encodeChunk(
          this.#accumulator,
          { ...origin, nowMs: this.nowMs },
          this.#stages,
          this.#values,
          writer,
        ),
      },
    };
  }

  /** A record that its source has not read, or not whole: one event that is rejected. */
  #refuse(value: Buffer | null, refused: RefusedRecord): number {
    this.#bury(0, refused.reason, refused.detail, 0, value?.length ?? 0, refused.originalBytes);
    return 1;
  }

  #bury(
    index: number,
    reason: RejectReason,
    detail: string,
    start: number,
    end: number,
    originalBytes = end - start,
  ): void {
    const bytes = deadLetterBytes(this.#record.value, start, end);
    this.#letterBytes += bytes?.length ?? 0;
    this.#letters.push({
      topic: this.#topic,
      partition: this.#partition,
      offset: this.#record.offset,
      index,
      reason,
      detail,
      bytes,
      originalBytes,
    });
  }
}
