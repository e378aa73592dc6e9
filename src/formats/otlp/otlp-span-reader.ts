import { ProtoReader, wireTypes } from '../protobuf/proto-reader.ts';
import {
  type Attributes,
  type AttributeValue,
  type Moment,
  msBetween,
  parentIsRemoteBy,
  type Span,
} from '../span.ts';
import type { AskedNames } from '../spans/asked-names.ts';
import { type SpanFault, tooManyOfResource, tooManyParts } from '../spans/span-reader.ts';
import { valueKinds } from '../spans/span-values.ts';
import type { BytesCache } from './bytes-cache.ts';
import { KeyTable } from './key-table.ts';
import type { MessageView } from './message-view.ts';
import { OtlpSpan } from './otlp-span.ts';
import { SpanParts } from './span-parts.ts';

const NONE = -1;
/** Tags of the fields of a KeyValue. */
const KEY = 0x0a;
const VALUE = 0x12;
/** Index for an attribute that no rule asks for. */
const IGNORED = -1;
/** Attributes of a span whose keys are guessed. */
const MAX_GUESSES = 64;

/** All attributes and events of a span, where they are asked for. */
interface Whole {
  readonly attributes: Map<string, AttributeValue>;
  readonly events: {
    readonly name: string;
    readonly time: Moment;
    readonly attributes: Attributes;
  }[];
}

/**
 * Reads spans in OTLP protobuf, in one pass and without allocation: where their fields stand, and the attributes
 * and events that rules ask for. There are short cuts for what writers write. Any other field is read by
 * `ProtoReader` and `SpanParts`, so each valid span is read, and of any other it is said what is wrong. Of a field
 * that is there several times the last one counts.
 */
export class OtlpSpanReader {
  readonly #message: MessageView;
  readonly #keys: KeyTable;
  readonly #eventNames: KeyTable;
  readonly #parts = new SpanParts();
  readonly #field: ProtoReader;
  /** The last span. */
  readonly span: OtlpSpan;
  #start = 0;
  /** Start of the value whose end `#rangeEnd` has returned. */
  #rangeStart = 0;
  #whole: Whole | undefined;
  /**
   * Key of each attribute of the last span by its place. Spans of one kind have the same keys in the same
   * order, so the key there is compared first.
   */
  readonly #guesses = new Int32Array(MAX_GUESSES).fill(IGNORED);
  #place = 0;

  /**
   * @param message whose spans are read.
   * @param names that rules ask spans for.
   * @param texts that come again.
   */
  constructor(message: MessageView, names: AskedNames, texts?: BytesCache<string>) {
    this.#message = message;
    this.#keys = new KeyTable(names.keys);
    this.#eventNames = new KeyTable(names.events);
    this.#field = new ProtoReader(message.bytes, 0, 0, this.#parts.fault);
    this.span = new OtlpSpan(message, names, texts);
  }

  /** Reads the span at `[start, end)`. Returns false where it cannot be read, see `fault`. */
  read(start: number, end: number): boolean {
    return this.#read(start, end, false);
  }

  /** Reads its ids, name, kind and times only: what is wrong inside of its other parts is not seen. */
  readHead(start: number, end: number): boolean {
    return this.#read(start, end, true);
  }

  /** Finds its ids only. Returns false where it cannot be read. */
  readIds(start: number, end: number): boolean {
    // Nearly all spans begin with the ids, or end with them: the collector writes the fields in falling order.
    const last = end - 18;
    if (start + 38 <= end) {
      if (this.#idsAt(start, start + 18, start + 28)) return true;
      if (this.#idsAt(last, last - 10, last - 20)) return true;
    }
    return this.readHead(start, end);
  }

  /** Returns all of the span at `[start, end)`, or why it cannot be read. */
  readWhole(start: number, end: number, resource: Attributes): Span | SpanFault {
    const { span } = this;
    const whole: Whole = { attributes: new Map(), events: [] };
    this.#whole = whole;
    const isRead = this.read(start, end);
    this.#whole = undefined;
    if (!isRead) return this.fault;
    const begun = span.start;
    return {
      traceId: span.traceId,
      spanId: span.spanId,
      parentSpanId: span.parentSpanId,
      name: span.name,
      kind: span.kind,
      startMs: begun?.ms,
      startNs: begun?.ns ?? 0,
      durationMs: begun && span.endIsSet ? span.durationMs : undefined,
      endIsSet: span.endIsSet,
      statusCode: span.statusCode,
      attributes: whole.attributes,
      resource,
      events: whole.events.flatMap(({ name, time, attributes }) =>
        begun === undefined ? [] : { name, sinceStartMs: msBetween(begun, time), attributes },
      ),
      traceState: span.traceState,
      parentIsRemote: parentIsRemoteBy(span.flags),
    };
  }

  /** Returns the attributes of the Resource at `[start, end)`, or why they cannot be read. */
  readResource(start: number, end: number): Attributes | SpanFault {
    const attributes = new Map<string, AttributeValue>();
    const { bytes } = this.#message;
    const [parts, field] = [this.#parts, this.#field];
    parts.begin();
    this.#start = start;
    field.begin(bytes, start, end);
    while (field.next()) {
      if (field.field !== 1 || !field.is(wireTypes.bytes)) continue;
      if (!parts.attribute(bytes, field.start, field.end, attributes)) break;
    }
    if (parts.areTooMany) return tooManyOfResource;
    return parts.fault.text === '' ? attributes : this.#faultOf('resource');
  }

  /** The reason why the last span cannot be read. */
  get fault(): SpanFault {
    return this.#parts.areTooMany ? tooManyParts : this.#faultOf('span');
  }

  #faultOf(what: string): SpanFault {
    const { text, at } = this.#parts.fault;
    const place = `at its byte ${at - this.#start}, ${text}`;
    return { detail: `The ${what} must be that of OTLP in protobuf: ${place}` };
  }

  #idsAt(trace: number, span: number, parent: number): boolean {
    const { bytes } = this.#message;
    const isThere =
      bytes[trace] === 0x0a &&
      bytes[trace + 1] === 16 &&
      bytes[span] === 0x12 &&
      bytes[span + 1] === 8 &&
      bytes[parent] === 0x22 &&
      bytes[parent + 1] === 8;
    if (!isThere) return false;
    this.span.place(1, trace + 2, trace + 18);
    this.span.place(2, span + 2, span + 10);
    this.span.place(4, parent + 2, parent + 10);
    return true;
  }

  #read(start: number, end: number, isHead: boolean): boolean {
    const { bytes, view, base } = this.#message;
    const { span } = this;
    span.begin();
    this.#parts.begin();
    this.#start = start;
    this.#place = 0;
    for (let pos = start; pos < end; ) {
      const tag = bytes[pos] as number;
      let after = NONE;
      switch (tag) {
        // Ids, trace state, name, attributes, events, links and status.
        case 0x0a:
        case 0x12:
        case 0x1a:
        case 0x22:
        case 0x2a:
        case 0x4a:
        case 0x5a:
        case 0x6a:
        case 0x7a:
          after = this.#rangeEnd(bytes, pos + 1, end);
          if (after >= 0 && !this.#range(tag >> 3, this.#rangeStart, after, isHead)) return false;
          break;
        // Start and end.
        case 0x39:
        case 0x41:
          if (end - pos <= 8) break;
          after = pos + 9;
          span.place(tag >> 3, pos + 1, after);
          break;
        // Kind, and the counts of what was dropped.
        case 0x30:
        case 0x50:
        case 0x60:
        case 0x70:
          if (end - pos <= 1 || (bytes[pos + 1] as number) >= 0x80) break;
          if (tag === 0x30) span.kind = bytes[pos + 1] as number;
          after = pos + 2;
          break;
        // Flags, of field 16.
        case 0x85:
          if (end - pos <= 5 || bytes[pos + 1] !== 1) break;
          span.flags = view.getInt32(base + pos + 2, true);
          after = pos + 6;
          break;
      }
      pos = after >= 0 ? after : this.#anyField(pos, end, isHead);
      if (pos < 0) return false;
    }
    return true;
  }

  /** Returns the end of the value whose length stands at `pos`; -1 for one of 16 KiB or more. */
  #rangeEnd(bytes: Buffer, pos: number, end: number): number {
    if (pos >= end) return NONE;
    let start = pos + 1;
    let length = bytes[pos] as number;
    if (length >= 0x80) {
      const second = start < end ? (bytes[start++] as number) : 0x80;
      if (second >= 0x80) return NONE;
      length = (length & 0x7f) | (second << 7);
    }
    this.#rangeStart = start;
    return length > end - start ? NONE : start + length;
  }

  /** Reads a field whatever it is. Returns the position behind it; -1 where it cannot be read. */
  #anyField(pos: number, end: number, isHead: boolean): number {
    const { span } = this;
    const field = this.#field;
    field.begin(this.#message.bytes, pos, end);
    if (!field.next()) return NONE;
    const { field: number, start: from, end: to } = field;
    if (number === 6 && field.is(wireTypes.varint)) span.kind = field.low;
    else if (number === 7 || number === 8) {
      if (field.is(wireTypes.fixed64)) span.place(number, field.pos - 8, field.pos);
    } else if (number === 16 && field.is(wireTypes.fixed32)) span.flags = field.low;
    else if (number <= 5 || number === 9 || number === 11 || number === 15) {
      if (field.is(wireTypes.bytes) && !this.#range(number, from, to, isHead)) return NONE;
    }
    return this.#parts.fault.text === '' ? field.pos : NONE;
  }

  /** Reads a field of bytes. Returns false where it cannot be read, or is one part too many. */
  #range(field: number, start: number, end: number, isHead: boolean): boolean {
    const { span } = this;
    if (field <= 5) span.place(field, start, end);
    else if (isHead) return true;
    else if (field === 9) return this.#attribute(start, end);
    else if (field === 11) return this.#event(start, end);
    else if (field === 15 && start < end) {
      const { bytes } = this.#message;
      span.statusCode = this.#parts.statusCode(bytes, start, end, span.statusCode);
      return this.#parts.fault.text === '';
    }
    return true;
  }

  #attribute(start: number, end: number): boolean {
    const parts = this.#parts;
    if (this.#whole === undefined && this.#plainAttribute(start, end)) {
      parts.count++;
      return !parts.areTooMany;
    }
    if (!parts.attribute(this.#message.bytes, start, end, this.#whole?.attributes)) return false;
    const { kind, nameStart, nameEnd } = parts;
    if (kind === valueKinds.none) return true;
    const key = this.#keys.find(this.#message, nameStart, nameEnd - nameStart);
    if (key >= 0) this.span.keep(key, kind, parts.valueStart, parts.valueEnd, parts.number);
    return true;
  }

  /** Reads a KeyValue with a short key and a short value, in either order. Returns false for any other. */
  #plainAttribute(start: number, end: number): boolean {
    const { bytes } = this.#message;
    const middle = start + 2 + (bytes[start + 1] as number);
    if (middle + 2 > end || middle + 2 + (bytes[middle + 1] as number) !== end) return false;
    if ((((bytes[start + 1] as number) | (bytes[middle + 1] as number)) & 0x80) !== 0) return false;
    if (bytes[start] === VALUE && bytes[middle] === KEY) {
      return this.#pair(middle + 2, end, start + 2, middle);
    }
    if (bytes[start] === KEY && bytes[middle] === VALUE) {
      return this.#pair(start + 2, middle, middle + 2, end);
    }
    return false;
  }

  #pair(keyStart: number, keyEnd: number, valueStart: number, valueEnd: number): boolean {
    if (valueEnd === valueStart) return true;
    if (keyEnd === keyStart) return this.#plainValue(IGNORED, valueStart, valueEnd);
    const place = Math.min(this.#place++, MAX_GUESSES - 1);
    const guess = this.#guesses[place] as number;
    const key = this.#keys.find(this.#message, keyStart, keyEnd - keyStart, guess);
    if (key !== guess) this.#guesses[place] = key;
    return this.#plainValue(key, valueStart, valueEnd);
  }

  /** Reads an AnyValue of one field. Returns false for any other. */
  #plainValue(key: number, start: number, end: number): boolean {
    const { bytes, view, base } = this.#message;
    const pos = start + 1;
    switch (bytes[start]) {
      // A text, a list, a map and bytes, whose length is below 128, as that of the value is.
      case 0x0a:
      case 0x2a:
      case 0x32:
      case 0x3a:
        if (pos + 1 + (bytes[pos] as number) !== end) return false;
        if (key >= 0 && bytes[start] === 0x0a) {
          this.span.keep(key, valueKinds.text, pos + 1, end, 0);
        }
        return true;
      case 0x10:
        if (end - pos !== 1 || (bytes[pos] as number) > 1) return false;
        if (key >= 0) this.span.keep(key, valueKinds.bool, 0, 0, bytes[pos] as number);
        return true;
      case 0x21: {
        if (end - pos !== 8) return false;
        const value = view.getFloat64(base + pos, true);
        const isKept = key >= 0 && Number.isFinite(value);
        if (isKept) this.span.keep(key, valueKinds.number, 0, 0, value);
        return true;
      }
      case 0x18:
        return this.#plainInteger(key, pos, end);
      default:
        return false;
    }
  }

  /** Reads a varint of up to 49 bits. Returns false for a longer one, a negative number among them. */
  #plainInteger(key: number, start: number, end: number): boolean {
    const { bytes } = this.#message;
    const count = end - start;
    if (count < 1 || count > 7 || (bytes[end - 1] as number) >= 0x80) return false;
    let value = 0;
    for (let i = end - 1; i >= start; i--) {
      const byte = bytes[i] as number;
      if (byte < 0x80 !== (i === end - 1)) return false;
      value = value * 128 + (byte & 0x7f);
    }
    if (key >= 0) this.span.keep(key, valueKinds.number, 0, 0, value);
    return true;
  }

  #event(start: number, end: number): boolean {
    const { span } = this;
    const parts = this.#parts;
    const attributes = this.#whole && new Map<string, AttributeValue>();
    if (!parts.event(this.#message.bytes, start, end, attributes)) return false;
    const { nameStart, nameEnd, timeAt } = parts;
    if (!span.isTime(timeAt)) return true;
    if (attributes !== undefined) {
      const name = span.text(nameStart, nameEnd);
      this.#whole?.events.push({ name, time: span.momentAt(timeAt), attributes });
    }
    const index = this.#eventNames.find(this.#message, nameStart, nameEnd - nameStart);
    if (index >= 0) span.keepEvent(index, timeAt, start, end);
    return true;
  }
}
