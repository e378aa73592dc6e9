import { grown } from '../../base/grown.ts';
import { type AttributeValue, type Moment, msBetween, msOfNs, nsBeyondMs } from '../span.ts';
import { type AskedNames, exception } from '../spans/rules/asked-names.ts';
import { eachGap } from '../spans/rules/each-gap.ts';
import {
  exceptionTypeIn,
  type KnownText,
  type SpanValues,
  valueKinds,
} from '../spans/rules/span-values.ts';
import type { BytesCache } from './bytes-cache.ts';
import type { MessageView } from './message-view.ts';
import { SpanParts } from './span-parts.ts';

/** Numbers of the fields that stand in one place: texts, bytes and times. */
const fields = {
  traceId: 1,
  spanId: 2,
  traceState: 3,
  parentId: 4,
  name: 5,
  start: 7,
  end: 8,
} as const;
const PLACES = 9;
const HAS_IDS = (1 << fields.traceId) | (1 << fields.spanId);
const HAS_TIMES = (1 << fields.start) | (1 << fields.end);
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
  /** Fields that stand in one place and are there, a bit each. */
  seen = 0;
  /** Start and end of each such field, by its number. */
  readonly places = new Int32Array(PLACES * 2);
  readonly #ids = new Int32Array(8);
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
  readonly numbers: Float64Array;
  /** Stamp and position of the earliest event of each name. */
  readonly #eventStamps: Int32Array;
  readonly #eventAts: Int32Array;
  /** Names and positions of the events of which all are asked for, in pairs. */
  readonly #isSeries: Uint8Array;
  #series = new Int32Array(64);
  #seriesLength = 0;
  #times = new Float64Array(0);
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
    this.numbers = new Float64Array(keys);
    this.#eventStamps = new Int32Array(events);
    this.#eventAts = new Int32Array(events);
    this.#isSeries = Uint8Array.from(names.events, (_, index) => Number(names.series.has(index)));
  }

  /** Begins another span. */
  begin(): void {
    if (++this.#stamp > MAX_STAMP) {
      this.#stamp = 1;
      this.#kinds.fill(0);
      this.#eventStamps.fill(0);
    }
    this.seen = 0;
    this.kind = 0;
    this.flags = 0;
    this.statusCode = 0;
    this.#seriesLength = 0;
  }

  /** Keeps where a field stands. @param field below 9. */
  place(field: number, start: number, end: number): void {
    this.seen |= 1 << field;
    this.places[field * 2] = start;
    this.places[field * 2 + 1] = end;
  }

  /** Keeps the kind of a key's value, which is set already. */
  keep(key: number, kind: number): void {
    this.#kinds[key] = (this.#stamp << 2) | kind;
  }

  /**
   * Keeps an event of a name, whose time is set, if it is the earliest or one of a series, and the last exception.
   */
  keepEvent(index: number, timeAt: number, start: number, end: number): void {
    const isFirst =
      this.#eventStamps[index] !== this.#stamp ||
      this.#isBefore(timeAt, this.#eventAts[index] as number);
    this.#eventStamps[index] = this.#stamp;
    if (isFirst) this.#eventAts[index] = timeAt;
    if (this.#isSeries[index] === 1) this.#keepOfSeries(index, timeAt);
    if (index !== exception) return;
    this.#exceptionStart = start;
    this.#exceptionEnd = end;
  }

  #keepOfSeries(index: number, timeAt: number): void {
    const n = this.#seriesLength;
    if (n === this.#series.length) this.#series = grown(this.#series, n + 2);
    this.#series[n] = index;
    this.#series[n + 1] = timeAt;
    this.#seriesLength = n + 2;
  }

  get startMs(): number {
    const { view, base } = this.#message;
    const at = base + this.#startOf(fields.start);
    if (!this.isTime(at - base)) return Number.NaN;
    return msOfNs(view.getInt32(at, true), view.getInt32(at + 4, true));
  }

  get endIsSet(): boolean {
    return this.isTime(this.#startOf(fields.end));
  }

  get durationMs(): number {
    if ((this.seen & HAS_TIMES) !== HAS_TIMES) return Number.NaN;
    return this.#msUntil(this.places[fields.end * 2] as number);
  }

  /** Moment of its start; undefined without one. */
  get start(): Moment | undefined {
    const at = this.#startOf(fields.start);
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
    return this.#startOf(fields.traceId);
  }

  get traceEnd(): number {
    return this.#endOf(fields.traceId);
  }

  /** The last four bytes of its id as an integer; 0 without one. */
  get idEnd(): number {
    return this.#lastOf(fields.spanId);
  }

  /** The same of its parent's id. */
  get parentEnd(): number {
    return this.#lastOf(fields.parentId);
  }

  /** Its ids as integers, as `SpanLinks` has them, until the next call. */
  ids(): Int32Array {
    const ids = this.#ids;
    const { places, seen } = this;
    const { view, base } = this.#message;
    const trace = places[fields.traceId * 2] as number;
    const own = places[fields.spanId * 2] as number;
    const parent = places[fields.parentId * 2] as number;
    const hasParent = this.#endOf(fields.parentId) > parent;
    const isPlain =
      (seen & HAS_IDS) === HAS_IDS &&
      (places[fields.traceId * 2 + 1] as number) - trace === TRACE_ID_BYTES &&
      (places[fields.spanId * 2 + 1] as number) - own === SPAN_ID_BYTES &&
      (!hasParent || (places[fields.parentId * 2 + 1] as number) - parent === SPAN_ID_BYTES);
    if (!isPlain) return this.#setOddIds(ids);
    ids[0] = view.getInt32(base + trace, false);
    ids[1] = view.getInt32(base + trace + 4, false);
    ids[2] = view.getInt32(base + trace + 8, false);
    ids[3] = view.getInt32(base + trace + 12, false);
    ids[4] = view.getInt32(base + own, false);
    ids[5] = view.getInt32(base + own + 4, false);
    ids[6] = hasParent ? view.getInt32(base + parent, false) : 0;
    ids[7] = hasParent ? view.getInt32(base + parent + 4, false) : 0;
    return ids;
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
    return this.numbers[key] as number;
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

  eachGap(name: number, add: (ms: number) => void): number {
    const length = this.#seriesLength;
    if (length === 0) return 0;
    if (2 * this.#times.length < length) this.#times = grown(this.#times, length);
    let count = 0;
    for (let i = 0; i < length; i += 2) {
      if (this.#series[i] !== name) continue;
      this.#times[count++] = this.#msUntil(this.#series[i + 1] as number);
    }
    return eachGap(this.#times, count, add);
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

  #startOf(field: number): number {
    return ((this.seen >> field) & 1) === 0 ? 0 : (this.places[field * 2] as number);
  }

  #endOf(field: number): number {
    return ((this.seen >> field) & 1) === 0 ? 0 : (this.places[field * 2 + 1] as number);
  }

  #textOf(field: number): string {
    return this.text(this.#startOf(field), this.#endOf(field));
  }

  #idOf(field: number): string {
    const [start, end] = [this.#startOf(field), this.#endOf(field)];
    const { bytes } = this.#message;
    if (end - start > TRACE_ID_BYTES || isZero(bytes, start, end)) return '';
    return (bytes as Buffer & HexSlice).hexSlice(start, end);
  }

  #lastOf(field: number): number {
    const { view, base } = this.#message;
    const [start, end] = [this.#startOf(field), this.#endOf(field)];
    if (start === end) return 0;
    if (end - start === SPAN_ID_BYTES) return view.getInt32(base + end - 4, false);
    return Number.parseInt(this.#idOf(field).slice(-8), 16) | 0;
  }

  /** Sets the integers of ids that have other lengths. Of a longer one they are those of its end. */
  #setOddIds(ids: Int32Array): Int32Array {
    const digits = [
      this.traceId.padStart(32, '0'),
      this.spanId.padStart(16, '0').slice(-16),
      this.parentSpanId.padStart(16, '0').slice(-16),
    ].join('');
    for (let i = 0; i < ids.length; i++)
      ids[i] = Number.parseInt(digits.slice(8 * i, 8 * i + 8), 16);
    return ids;
  }

  /** Milliseconds from the start to a time, exact to a nanosecond; NaN without one of them. */
  #msUntil(to: number): number {
    const { view, base } = this.#message;
    const from = this.#startOf(fields.start);
    if (from === 0) return Number.NaN;
    const fromLow = view.getUint32(base + from, true);
    const fromHigh = view.getUint32(base + from + 4, true);
    const toLow = view.getUint32(base + to, true);
    const toHigh = view.getUint32(base + to + 4, true);
    if ((fromLow | fromHigh) === 0 || (toLow | toHigh) === 0) return Number.NaN;
    const ns = (toHigh - fromHigh) * 0x1_0000_0000 + (toLow - fromLow);
    if (Math.abs(ns) <= MOST_EXACT_NS) return ns / 1e6;
    return msBetween(this.momentAt(from), this.momentAt(to));
  }

  #isBefore(at: number, other: number): boolean {
    const { view, base } = this.#message;
    const high = view.getUint32(base + at + 4, true);
    const otherHigh = view.getUint32(base + other + 4, true);
    if (high !== otherHigh) return high < otherHigh;
    return view.getUint32(base + at, true) < view.getUint32(base + other, true);
  }
}

/** Buffer's own method, which `toString` calls after many checks. */
interface HexSlice {
  hexSlice(start: number, end: number): string;
}

/** True if all bytes of a range are 0. */
export function isZero(bytes: Buffer, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (bytes[i] !== 0) return false;
  return true;
}
