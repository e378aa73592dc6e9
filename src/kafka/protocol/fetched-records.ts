import type { Records, RefusedRecord, SourceRecord } from '../../source/record.ts';
import type { RecordBatchHeader } from './record-batch-header.ts';

/** Offsets of a log that are in no batch, or in an emptied one: `end` is the first after them. */
export interface OffsetGap {
  readonly start: number;
  readonly end: number;
}

export const noGaps: readonly OffsetGap[] = [];

/** Records of one batch, validated, or the reason why they are rejected. */
export interface BatchPart {
  readonly header: RecordBatchHeader;
  /** Inflated bytes; empty where the batch is rejected. */
  readonly bytes: Buffer;
  readonly refused: RefusedRecord | undefined;
  /** Between this batch and the visible one before. */
  readonly gapsBefore: readonly OffsetGap[];
}

/** Of the batches after the last visible one, and of those in front of all. */
export interface LogEdges {
  /** Offset of the first batch, visible or not; -1 without one. */
  readonly firstOffset: number;
  /** After the last visible batch. */
  readonly gapsAtEnd: readonly OffsetGap[];
}

/** Payload bits per varint byte. */
const GROUP_BITS = 7;

/**
 * The records of one partition in a fetch response, decoded lazily in place: only a view of each value is
 * created. Headers are passed over, and read again where someone asks for them.
 *
 * About 100 ns per record (message format v2: length, attributes, timestamp and offset deltas, key, value,
 * headers; zigzag varints).
 */
export class FetchedRecords implements Records {
  readonly #parts: readonly BatchPart[];
  /** Offset of the last record, visible or not; -1 without one. */
  readonly lastOffset: number;
  /** Leader epoch of that record; -1 without one. */
  readonly lastEpoch: number;
  readonly #onPassed: () => void;
  readonly #edges: LogEdges;
  /** The next offset of the current part, if nothing is removed within it. */
  #next = -1;
  /** Offsets that are removed between that part and the record before. */
  #removedBefore = 0;
  /** The position of the reader: nothing counts as removed before it. */
  #from = 0;
  #part = 0;
  /** Records of the current part after the current one. */
  #left = 0;
  #at = 0;
  #keyAt = 0;
  /** -1 without a key. */
  #keyLength = -1;
  #headersAt = 0;
  readonly #view: { -readonly [K in keyof SourceRecord]: SourceRecord[K] } = {
    offset: 0,
    timestampMs: 0,
    value: null,
    headers: () => this.#headers(),
    leaderEpoch: undefined,
    removedBefore: 0,
    refused: undefined,
  };
  #isInView = true;

  /**
   * @param last the header of the last batch, visible or not.
   * @param onPassed is called once, when the last record has been passed.
   */
  constructor(
    parts: readonly BatchPart[],
    last: Pick<RecordBatchHeader, 'lastOffset' | 'leaderEpoch'> | undefined,
    onPassed: () => void,
    edges: LogEdges = { firstOffset: -1, gapsAtEnd: noGaps },
  ) {
    this.#parts = parts;
    this.#edges = edges;
    this.lastOffset = last?.lastOffset ?? -1;
    this.lastEpoch = last?.leaderEpoch ?? -1;
    this.#onPassed = onPassed;
    this.#left = parts[0]?.header.recordCount ?? 0;
    this.#beginPart(parts[0]);
    this.advance();
  }

  get current(): SourceRecord | undefined {
    return this.#isInView ? this.#view : undefined;
  }

  key(): Buffer | null {
    const part = this.#parts[this.#part];
    if (this.#keyLength < 0 || part === undefined || part.refused !== undefined) return null;
    return part.bytes.subarray(this.#keyAt, this.#keyAt + this.#keyLength);
  }

  /** Offset of the last visible record; -1 without one. */
  get lastShownOffset(): number {
    return this.#parts.at(-1)?.header.lastOffset ?? -1;
  }

  /**
   * Passes records before an offset. A broker returns the batch that contains it from its beginning, without
   * saying which earlier records were aborted. Offsets before the first batch are in none.
   */
  passBefore(offset: number): void {
    this.#from = offset;
    const [first] = this.#parts;
    if (first !== undefined && this.current !== undefined) {
      const gaps = [{ start: offset, end: this.#edges.firstOffset }];
      let within = 0;
      if (first.refused === undefined) {
        gaps.push(...first.gapsBefore);
        within = Math.max(0, this.current.offset - Math.max(first.header.baseOffset, offset));
      }
      this.#view.removedBefore = this.#lengthOf(gaps) + within;
    }
    while (this.current !== undefined && this.current.offset < offset) this.advance();
  }

  /** Offsets after the last record that are in no batch, or are compacted away within one. */
  get removedAtEnd(): number {
    return this.#leftIn(this.#parts.at(-1)) + this.#lengthOf(this.#edges.gapsAtEnd);
  }

  advance(): void {
    while (this.#left === 0) {
      const next = this.#parts[++this.#part];
      if (next === undefined) {
        this.#end();
        return;
      }
      this.#left = next.header.recordCount;
      this.#at = 0;
      this.#beginPart(next);
    }
    const part = this.#parts[this.#part] as BatchPart;
    this.#left--;
    if (part.refused === undefined) this.#read(part);
    else this.#refuse(part);
  }

  /** Offsets missing at the end of the batch before are missing before this one's first record. */
  #beginPart(part: BatchPart | undefined): void {
    if (part === undefined) return;
    this.#removedBefore =
      this.#leftIn(this.#parts[this.#part - 1]) + this.#lengthOf(part.gapsBefore);
    this.#next = part.header.baseOffset;
  }

  /** Offsets at the end of a part that no record of it has. */
  #leftIn(part: BatchPart | undefined): number {
    if (part === undefined) return 0;
    return Math.max(0, part.header.lastOffset + 1 - Math.max(this.#next, this.#from));
  }

  #lengthOf(gaps: readonly OffsetGap[]): number {
    let length = 0;
    for (const { start, end } of gaps) length += Math.max(0, end - Math.max(start, this.#from));
    return length;
  }

  #end(): void {
    if (!this.#isInView) return;
    this.#isInView = false;
    this.#view.value = null;
    this.#onPassed();
  }

  #read({ bytes, header }: BatchPart): void {
    const view = this.#view;
    this.#at = skipVarint(bytes, this.#at) + 1;
    const timestampDelta = this.#varint(bytes);
    view.offset = header.baseOffset + this.#varint(bytes);
    view.timestampMs = header.appendedMs ?? header.baseTimestampMs + timestampDelta;
    view.removedBefore =
      this.#removedBefore + Math.max(0, view.offset - Math.max(this.#next, this.#from));
    this.#removedBefore = 0;
    this.#next = view.offset + 1;
    view.leaderEpoch = header.leaderEpoch;
    view.refused = undefined;
    this.#keyLength = this.#varint(bytes);
    this.#keyAt = this.#at;
    this.#at += Math.max(0, this.#keyLength);
    const length = this.#varint(bytes);
    const start = this.#at;
    this.#at = start + Math.max(0, length);
    view.value = length < 0 ? null : bytes.subarray(start, this.#at);
    this.#headersAt = this.#at;
    for (let parts = 2 * this.#varint(bytes); parts > 0; parts--) this.#skipPart(bytes);
  }

  /** The first records of a rejected batch get its first offsets, the last one gets its last. */
  #refuse({ header, refused }: BatchPart): void {
    const { baseOffset, lastOffset, recordCount } = header;
    const view = this.#view;
    view.offset = this.#left === 0 ? lastOffset : baseOffset + recordCount - 1 - this.#left;
    view.timestampMs = header.appendedMs ?? header.baseTimestampMs;
    view.value = null;
    // Their number is not known: its records are rejected, and none counts as removed.
    view.removedBefore = 0;
    this.#removedBefore = 0;
    this.#next = lastOffset + 1;
    view.leaderEpoch = header.leaderEpoch;
    view.refused = refused;
  }

  #headers(): ReadonlyMap<string, Buffer> {
    const headers = new Map<string, Buffer>();
    const part = this.#parts[this.#part];
    if (part === undefined || part.refused !== undefined) return headers;
    const { bytes } = part;
    // They end where the record does, so the next one is read as if nothing had happened.
    this.#at = this.#headersAt;
    for (let left = this.#varint(bytes); left > 0; left--) {
      const name = this.#partOf(bytes)?.toString() ?? '';
      const value = this.#partOf(bytes);
      if (value === null) headers.delete(name);
      else headers.set(name, value);
    }
    return headers;
  }

  /** Reads a length-prefixed part; null where its length is -1. */
  #partOf(bytes: Buffer): Buffer | null {
    const length = this.#varint(bytes);
    const start = this.#at;
    this.#at += Math.max(0, length);
    return length < 0 ? null : bytes.subarray(start, this.#at);
  }

  /** Skips a length-prefixed part; a length of -1 means none. */
  #skipPart(bytes: Buffer): void {
    const length = this.#varint(bytes);
    this.#at += Math.max(0, length);
  }

  /** Reads a zigzag varint and advances. Exact up to 2^53. */
  #varint(bytes: Buffer): number {
    let byte = bytes[this.#at++] as number;
    if (byte < 0x80) return (byte >>> 1) ^ -(byte & 1);
    let value = byte & 0x7f;
    for (let shift = GROUP_BITS; ; shift += GROUP_BITS) {
      byte = bytes[this.#at++] as number;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    }
  }
}

function skipVarint(bytes: Buffer, start: number): number {
  let at = start;
  while ((bytes[at] as number) >= 0x80) at++;
  return at + 1;
}
