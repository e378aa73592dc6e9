import { ProtoReader, wireTypes } from '../protobuf/proto-reader.ts';
import {
  type Attributes,
  type AttributeValue,
  type Moment,
  msBetween,
  parentIsRemoteBy,
  type Span,
} from '../span.ts';
import type { AskedNames } from '../spans/rules/asked-names.ts';
import { valueKinds } from '../spans/rules/span-values.ts';
import { type SpanFault, tooManyOfResource, tooManyParts } from '../spans/span-reader.ts';
import type { BytesCache } from './bytes-cache.ts';
import { KeyTable } from './key-table.ts';
import type { MessageView } from './message-view.ts';
import { OtlpSpan } from './otlp-span.ts';
import { PlainAttributes } from './plain-attributes.ts';
import { rangeEnd, rangeStart } from './range.ts';
import { SpanParts } from './span-parts.ts';

const NONE = -1;
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
 * Reads spans in OTLP protobuf, in one pass and without allocation: where their fields stand, and the
 * attributes and events that rules ask for. There are short cuts for what writers write. Any other field is
 * read by `ProtoReader` and `SpanParts`. So each valid span is read, and of any other it is said what is wrong.
 * Of a field that is there several times the last one counts.
 */
export class OtlpSpanReader {
  readonly #message: MessageView;
  readonly #attributes: PlainAttributes;
  readonly #eventNames: KeyTable;
  readonly #parts = new SpanParts();
  readonly #field: ProtoReader;
  /** The last span. */
  readonly span: OtlpSpan;
  #start = 0;
  #whole: Whole | undefined;
  /**
   * @param message whose spans are read.
   * @param names that rules ask spans for.
   * @param texts that come again.
   */
  constructor(message: MessageView, names: AskedNames, texts?: BytesCache<string>) {
    this.#message = message;
    this.#eventNames = new KeyTable(names.events);
    this.#field = new ProtoReader(message.bytes, 0, 0, this.#parts.fault);
    this.span = new OtlpSpan(message, names, texts);
    this.#attributes = new PlainAttributes(message, names.keys, this.span);
  }

  /** Reads the span at `[start, end)`. Returns false where it cannot be read, see `fault`. */
  read(start: number, end: number): boolean {
    const { bytes, view, base } = this.#message;
    const { span } = this;
    const { places } = span;
    span.begin();
    this.#parts.begin();
    this.#start = start;
    this.#attributes.begin();
    let seen = 0;
    for (let pos = start; pos < end; ) {
      const tag = bytes[pos] as number;
      let after = NONE;
      switch (tag) {
        // Attributes.
        case 0x4a:
          after = rangeEnd(bytes, pos + 1, end);
          if (!(after >= 0)) break;
          if (!this.#attribute(bytes, rangeStart(bytes, pos + 1), after)) return false;
          break;
        // Ids, trace state and name.
        case 0x0a:
        case 0x12:
        case 0x1a:
        case 0x22:
        case 0x2a:
          after = rangeEnd(bytes, pos + 1, end);
          seen |= 1 << (tag >> 3);
          places[(tag >> 3) * 2] = rangeStart(bytes, pos + 1);
          places[(tag >> 3) * 2 + 1] = after;
          break;
        // Start and end.
        case 0x39:
        case 0x41:
          if (end - pos <= 8) break;
          after = pos + 9;
          seen |= 1 << (tag >> 3);
          places[(tag >> 3) * 2] = pos + 1;
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
        // Events.
        case 0x5a:
          after = rangeEnd(bytes, pos + 1, end);
          if (!(after >= 0)) break;
          if (!this.#event(rangeStart(bytes, pos + 1), after)) return false;
          break;
        // Links, and a status, of which most are empty.
        case 0x6a:
        case 0x7a:
          after = rangeEnd(bytes, pos + 1, end);
          if (tag === 0x7a && after > pos + 2) after = NONE;
          break;
        // Flags, of field 16.
        case 0x85:
          if (end - pos <= 5 || bytes[pos + 1] !== 1) break;
          span.flags = view.getInt32(base + pos + 2, true);
          after = pos + 6;
          break;
      }
      pos = after >= 0 ? after : this.#anyField(pos, end);
      if (pos < 0) return false;
    }
    span.seen |= seen;
    return true;
  }

  /** Reads its ids, name, kind and times: of most spans it looks at nothing else, and checks nothing else. */
  readHead(start: number, end: number): boolean {
    return this.#plainHead(start, end) || this.read(start, end);
  }

  #plainHead(start: number, end: number): boolean {
    const { bytes, view, base } = this.#message;
    const { span } = this;
    const { places } = span;
    span.begin();
    let seen = 0;
    let pos = start;
    while (pos < end) {
      const tag = bytes[pos++] as number;
      const next = bytes[pos] as number;
      switch (tag) {
        // Ids and name.
        case 0x0a:
        case 0x12:
        case 0x22:
        case 0x2a:
          if (next >= 0x80) return false;
          seen |= 1 << (tag >> 3);
          places[(tag >> 3) * 2] = pos + 1;
          pos += 1 + next;
          places[(tag >> 3) * 2 + 1] = pos;
          break;
        // Start and end.
        case 0x39:
        case 0x41:
          seen |= 1 << (tag >> 3);
          places[(tag >> 3) * 2] = pos;
          pos += 8;
          break;
        // Trace state, attributes, events, links and status.
        case 0x1a:
        case 0x4a:
        case 0x5a:
        case 0x6a:
        case 0x7a:
          pos = next < 0x80 ? pos + 1 + next : rangeEnd(bytes, pos, end);
          if (!(pos >= 0)) return false;
          break;
        // Kind, and the counts of what was dropped.
        case 0x30:
        case 0x50:
        case 0x60:
        case 0x70:
          if (next >= 0x80) return false;
          if (tag === 0x30) span.kind = next;
          pos++;
          break;
        // Flags, of field 16.
        case 0x85:
          if (next !== 1 || end - pos < 5) return false;
          span.flags = view.getInt32(base + pos + 1, true);
          pos += 5;
          break;
        default:
          return false;
      }
    }
    span.seen = seen;
    return pos === end;
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

  /** Reads a field whatever it is. Returns the position behind it; -1 where it cannot be read. */
  #anyField(pos: number, end: number): number {
    const { span } = this;
    const field = this.#field;
    const { bytes } = this.#message;
    field.begin(bytes, pos, end);
    if (!field.next()) return NONE;
    const { field: number, start: from, end: to } = field;
    if (number <= 5 && field.is(wireTypes.bytes)) span.place(number, from, to);
    else if (number === 6 && field.is(wireTypes.varint)) span.kind = field.low;
    else if ((number === 7 || number === 8) && field.is(wireTypes.fixed64)) {
      span.place(number, field.pos - 8, field.pos);
    } else if (number === 9 && field.is(wireTypes.bytes)) {
      if (!this.#attribute(bytes, from, to)) return NONE;
    } else if (number === 11 && field.is(wireTypes.bytes)) {
      if (!this.#event(from, to)) return NONE;
    } else if (number === 15 && field.is(wireTypes.bytes)) {
      span.statusCode = this.#parts.statusCode(bytes, from, to, span.statusCode);
    } else if (number === 16 && field.is(wireTypes.fixed32)) span.flags = field.low;
    return this.#parts.fault.text === '' ? field.pos : NONE;
  }

  /** Reads an attribute. Returns false where it cannot be read, or is one part too many. */
  #attribute(bytes: Buffer, start: number, end: number): boolean {
    const parts = this.#parts;
    if (this.#whole === undefined && this.#attributes.read(bytes, start, end)) {
      parts.count++;
      return !parts.areTooMany;
    }
    if (!parts.attribute(bytes, start, end, this.#whole?.attributes)) return false;
    const { kind, nameStart, nameEnd } = parts;
    if (kind === valueKinds.none) return true;
    const key = this.#attributes.indexOf(nameStart, nameEnd);
    if (key < 0) return true;
    this.span.starts[key] = parts.valueStart;
    this.span.ends[key] = parts.valueEnd;
    this.span.numbers[key] = parts.number;
    this.span.keep(key, kind);
    return true;
  }

  /** Reads an event without attributes, as those of streamed chunks are. Returns false for any other. */
  #plainEvent(bytes: Buffer, start: number, end: number): boolean {
    const parts = this.#parts;
    let [nameStart, nameEnd, timeAt] = [0, 0, NONE];
    for (let pos = start; pos < end; ) {
      if (bytes[pos] === 0x09 && end - pos > 8) {
        timeAt = pos + 1;
        pos += 9;
      } else if (bytes[pos] === 0x12) {
        nameStart = rangeStart(bytes, pos + 1);
        nameEnd = rangeEnd(bytes, pos + 1, end);
        if (!(nameEnd >= 0)) return false;
        pos = nameEnd;
      } else return false;
    }
    parts.count++;
    parts.nameStart = nameStart;
    parts.nameEnd = nameEnd;
    parts.timeAt = timeAt;
    return true;
  }

  #event(start: number, end: number): boolean {
    const { span } = this;
    const parts = this.#parts;
    const attributes = this.#whole && new Map<string, AttributeValue>();
    const { bytes } = this.#message;
    const isPlain = attributes === undefined && this.#plainEvent(bytes, start, end);
    if (!isPlain && !parts.event(bytes, start, end, attributes)) return false;
    if (parts.areTooMany) return false;
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
