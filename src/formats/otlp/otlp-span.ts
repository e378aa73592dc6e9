import { type AttributeValue, type Moment, msBetween, msOfNs, nsBeyondMs } from '../span.ts';
import { type AskedNames, exception } from '../spans/asked-names.ts';
import {
  exceptionTypeIn,
  type KnownText,
  type SpanValues,
  valueKinds,
} from '../spans/span-values.ts';
import type { BytesCache } from './bytes-cache.ts';
import type { MessageView } from './message-view.ts';
import { SpanParts } from './span-parts.ts';

/** Numbers of the fields that stand in one place: texts, bytes and times. */
const fields = { traceId: 1, spanId: 2, traceState: 3, parentId: 4, name: 5, start: 7, end: 8 };
const PLACES = 9;
const NONE = -1;
/** Bytes of a trace's id, the longest id there is, and of a span's. */
const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;
const MAX_STAMP = (1 << 29) - 1;
/** 2^50 ns. A longer duration is rounded in one way only, that of `msBetween`. */
const MOST_EXACT_NS = 2 ** 50;

/** A span as it stands in a message: what `OtlpSpanReader` has found of it last. */
export class OtlpSpan implements SpanValues {
  readonly #message: MessageView;
  readonly #texts: BytesCache<string> | undefined;
  readonly #parts = new SpanParts();
  /** Start and end of each field that stands in one place, by its number; both 0 without it. */
  readonly #places = new Int32Array(PLACES * 2);
  kind = 0;
  flags = 0;
  statusCode = 0;
  /** Number of the span. Values of another span do not count, so nothing is cleared. */
  #stamp = 0;
  /** Stamp and kind of each key's value. */
  readonly #kinds: Int32Array;
  /** Ranges of texts, by key. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  /** Numbers, and 0 or 1 of booleans, by key. */
  readonly #numbers: Float64Array;
  /** Stamp and position of the earliest event of each name. */
  readonly #eventStamps: Int32Array;
  readonly #eventAts: Int32Array;
  /** Range of the last event with an exception. */
  #exceptionStart = 0;
  #exceptionEnd = 0;
  /** Values of the span's resource, by the indices that rules have. */
  resource: readonly (AttributeValue | undefined)[] = [];

  /** @param texts that come again. */
  constructor(message: MessageView, names: AskedNames, texts?: BytesCache<string>) {
    const [keys, events] = [names.keys.length, names.events.length];
    this.#message = message;
    this.#texts = texts;
    this.#kinds = new Int32Array(keys);
    this.starts = new Int32Array(keys);
    this.ends = new Int32Array(keys);
    this.#numbers = new Float64Array(keys);
    this.#eventStamps = new Int32Array(events);
    this.#eventAts = new Int32Array(events);
  }

  /** Begins another span. */
  begin(): void {
    if (++this.#stamp > MAX_STAMP) {
      this.#stamp = 1;
      this.#kinds.fill(0);
      this.#eventStamps.fill(0);
    }
    for (let i = 0; i < PLACES * 2; i++) this.#places[i] = 0;
    this.kind = 0;
    this.flags = 0;
    this.statusCode = 0;
  }

  /** Keeps where a field stands. @param field below 9. */
  place(field: number, start: number, end: number): void {
    this.#places[field * 2] = start;
    this.#places[field * 2 + 1] = end;
  }

  /** Keeps the value of a key. */
  keep(key: number, kind: number, start: number, end: number, number: number): void {
    this.#kinds[key] = (this.#stamp << 2) | kind;
    if (kind === valueKinds.text) {
      this.starts[key] = start;
      this.ends[key] = end;
    } else this.#numbers[key] = number;
  }

  /** Keeps an event of a name, whose time is set, if it is the earliest, and the last exception. */
  keepEvent(index: number, timeAt: number, start: number, end: number): void {
    const isFirst =
      this.#eventStamps[index] !== this.#stamp ||
      this.#nsBetween(this.#eventAts[index] as number, timeAt) < 0;
    this.#eventStamps[index] = this.#stamp;
    if (isFirst) this.#eventAts[index] = timeAt;
    if (index !== exception) return;
    this.#exceptionStart = start;
    this.#exceptionEnd = end;
  }

  get startMs(): number {
    const at = this.#places[fields.start * 2] as number;
    if (!this.isTime(at)) return Number.NaN;
    const { view, base } = this.#message;
    return msOfNs(view.getInt32(base + at, true), view.getInt32(base + at + 4, true));
  }

  get endIsSet(): boolean {
    return this.isTime(this.#places[fields.end * 2] as number);
  }

  get durationMs(): number {
    return this.endIsSet ? this.#msUntil(this.#places[fields.end * 2] as number) : Number.NaN;
  }

  /** Moment of its start; undefined without one. */
  get start(): Moment | undefined {
    const at = this.#places[fields.start * 2] as number;
    return this.isTime(at) ? this.momentAt(at) : undefined;
  }

  get name(): string {
    return this.#textOf(fields.name);
  }

  get traceState(): string {
    return this.#textOf(fields.traceState);
  }

  get traceId(): string {
    return this.#idOf(fields.traceId);
  }

  get spanId(): string {
    return this.#idOf(fields.spanId);
  }

  get parentSpanId(): string {
    return this.#idOf(fields.parentId);
  }

  /** Range of the trace's id, as it is written. */
  get traceStart(): number {
    return this.#places[fields.traceId * 2] as number;
  }

  get traceEnd(): number {
    return this.#places[fields.traceId * 2 + 1] as number;
  }

  /** Position of the trace's id of 16 bytes; -1 for any other. */
  get traceAt(): number {
    return this.#idAt(fields.traceId, TRACE_ID_BYTES);
  }

  /** Position of the span's id of 8 bytes; -1 for any other. */
  get spanAt(): number {
    return this.#idAt(fields.spanId, SPAN_ID_BYTES);
  }

  get parentAt(): number {
    return this.#idAt(fields.parentId, SPAN_ID_BYTES);
  }

  /** True if each of its ids is none, or as long as usual. */
  get areIdsPlain(): boolean {
    return (
      (this.traceAt >= 0 || this.traceStart === this.traceEnd) &&
      (this.spanAt >= 0 || this.#isEmpty(fields.spanId)) &&
      (this.parentAt >= 0 || this.#isEmpty(fields.parentId))
    );
  }

  kindOf(key: number): number {
    const kind = this.#kinds[key] as number;
    return kind >> 2 === this.#stamp ? kind & 3 : valueKinds.none;
  }

  hasText(key: number): boolean {
    return this.kindOf(key) === valueKinds.text && this.starts[key] !== this.ends[key];
  }

  textOf(key: number): string {
    return this.text(this.starts[key] as number, this.ends[key] as number);
  }

  numberOf(key: number): number {
    return this.#numbers[key] as number;
  }

  isOneOf(key: number, texts: readonly KnownText[], isWhole: boolean): boolean {
    const start = this.starts[key] as number;
    const end = this.ends[key] as number;
    for (let i = 0; i < texts.length; i++) {
      const { bytes } = texts[i] as KnownText;
      const from = end - bytes.length;
      if (isWhole ? from !== start : from < start) continue;
      let at = 0;
      while (at < bytes.length && bytes[at] === this.#message.bytes[from + at]) at++;
      if (at === bytes.length) return true;
    }
    return false;
  }

  eventMs(index: number): number {
    if (this.#eventStamps[index] !== this.#stamp) return Number.NaN;
    return this.#msUntil(this.#eventAts[index] as number);
  }

  exceptionType(): string | undefined {
    if (Number.isNaN(this.eventMs(exception))) return undefined;
    const attributes = new Map<string, AttributeValue>();
    this.#parts.begin();
    this.#parts.event(this.#message.bytes, this.#exceptionStart, this.#exceptionEnd, attributes);
    return exceptionTypeIn(attributes);
  }

  resourceValue(key: number): AttributeValue | undefined {
    return this.resource[key];
  }

  /** True if a time stands at a position, and not 0. */
  isTime(at: number): boolean {
    const { view, base } = this.#message;
    return at > 0 && (view.getInt32(base + at, true) | view.getInt32(base + at + 4, true)) !== 0;
  }

  momentAt(at: number): Moment {
    const { view, base } = this.#message;
    const [low, high] = [view.getInt32(base + at, true), view.getInt32(base + at + 4, true)];
    return { ms: msOfNs(low, high), ns: nsBeyondMs(low, high) };
  }

  /** Text of the message's bytes; what is no UTF-8 becomes U+FFFD. */
  text(start: number, end: number): string {
    if (start === end) return '';
    return this.#texts === undefined
      ? this.#message.bytes.toString('utf8', start, end)
      : this.#texts.get(this.#message, start, end);
  }

  #textOf(field: number): string {
    return this.text(this.#places[field * 2] as number, this.#places[field * 2 + 1] as number);
  }

  #isEmpty(field: number): boolean {
    return this.#places[field * 2] === this.#places[field * 2 + 1];
  }

  #idAt(field: number, length: number): number {
    const start = this.#places[field * 2] as number;
    return (this.#places[field * 2 + 1] as number) - start === length ? start : NONE;
  }

  #idOf(field: number): string {
    const start = this.#places[field * 2] as number;
    const end = this.#places[field * 2 + 1] as number;
    if (end - start > TRACE_ID_BYTES) return '';
    const hex = this.#message.bytes.toString('hex', start, end);
    return /^0*$/.test(hex) ? '' : hex;
  }

  /** Milliseconds from the start to a time, exact to a nanosecond; NaN without a start. */
  #msUntil(at: number): number {
    const from = this.#places[fields.start * 2] as number;
    if (!this.isTime(from)) return Number.NaN;
    const ns = this.#nsBetween(from, at);
    if (Math.abs(ns) <= MOST_EXACT_NS) return ns / 1e6;
    return msBetween(this.momentAt(from), this.momentAt(at));
  }

  #nsBetween(from: number, to: number): number {
    const { view, base } = this.#message;
    const high = view.getUint32(base + to + 4, true) - view.getUint32(base + from + 4, true);
    const low = view.getUint32(base + to, true) - view.getUint32(base + from, true);
    return high * 0x1_0000_0000 + low;
  }
}
