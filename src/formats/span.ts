export type AttributeValue = string | number | boolean;

/** Attributes by name. Lists, maps and bytes are left out: no rule reads them. */
export type Attributes = ReadonlyMap<string, AttributeValue>;

export interface SpanEvent {
  readonly name: string;
  /** Time since the span's start; negative where a clock went back. */
  readonly sinceStartMs: number;
  readonly attributes: Attributes;
}

/** Kinds of spans by the numbers of OTLP. */
export const spanKinds = [
  'unspecified',
  'internal',
  'server',
  'client',
  'producer',
  'consumer',
] as const;

/** A span, whichever format it came in. Ids are lower-case hex, and '' where absent, zero or no hex. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  /** As OTLP numbers it: 0 unspecified, 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number;
  /** Whole milliseconds since the epoch; `undefined` if no time can be read. */
  readonly startMs: number | undefined;
  /** Nanoseconds beyond `startMs`. */
  readonly startNs: number;
  /** Exact to a nanosecond; negative if it ends before it starts, `undefined` without start or end. */
  readonly durationMs: number | undefined;
  readonly endIsSet: boolean;
  /** 0 unset, 1 ok, 2 error. */
  readonly statusCode: number;
  readonly attributes: Attributes;
  readonly resource: Attributes;
  readonly events: readonly SpanEvent[];
  readonly traceState: string;
  /** True for the server's half of a span whose id its client shares (Zipkin). */
  readonly isShared?: boolean;
  /** True if its parent is in another process; undefined where the span does not say it. */
  readonly parentIsRemote?: boolean | undefined;
}

/** Bits of OTLP's flags: whether they say where the parent is, and whether it is in another process. */
const SAYS_REMOTE = 0x100;
const IS_REMOTE = 0x200;

/** Returns whether a span's parent is in another process, by OTLP's flags; undefined where they do not say it. */
export function parentIsRemoteBy(flags: number): boolean | undefined {
  return (flags & SAYS_REMOTE) === 0 ? undefined : (flags & IS_REMOTE) !== 0;
}

const serverKind = spanKinds.indexOf('server');
const consumerKind = spanKinds.indexOf('consumer');

/**
 * True if a request enters a process by a span: its parent is in another one. Spans of servers and consumers
 * count as such where the span does not say where its parent is.
 */
export function isEntry(kind: number, parentIsRemote?: boolean): boolean {
  return parentIsRemote ?? (kind === serverKind || kind === consumerKind);
}

/** A moment: whole milliseconds since the epoch and the nanoseconds beyond them. */
export interface Moment {
  readonly ms: number;
  readonly ns: number;
}

/** Returns milliseconds rounded to nanoseconds, which removes what floating point added. */
export function toNanosecond(ms: number): number {
  return Math.round(ms * 1e6) / 1e6;
}

/** Returns the milliseconds from one moment to another. */
export function msBetween(from: Moment, to: Moment): number {
  return toNanosecond(to.ms - from.ms + (to.ns - from.ns) / 1e6);
}

/** 2^32 ns are so many milliseconds, and so many nanoseconds beyond them. */
const MS_OF_HIGH = 4294;
const NS_OF_HIGH = 967_296;

/** Returns the whole milliseconds of nanoseconds, an unsigned number of 64 bits by its halves. It is exact. */
export function msOfNs(low: number, high: number): number {
  return (high >>> 0) * MS_OF_HIGH + Math.floor(restNs(low, high) / 1e6);
}

/** Returns the nanoseconds beyond the whole milliseconds. */
export function nsBeyondMs(low: number, high: number): number {
  return restNs(low, high) % 1e6;
}

/** Below 2^53, so exact. */
function restNs(low: number, high: number): number {
  return (high >>> 0) * NS_OF_HIGH + (low >>> 0);
}

/** Returns the moment of nanoseconds since the epoch; `undefined` for what is none, 0 included. */
export function momentOfNs(ns: unknown): Moment | undefined {
  const digits = digitsOf(ns);
  if (digits === undefined || /^0*$/.test(digits)) return undefined;
  return { ms: Number(digits.slice(0, -6)), ns: Number(digits.slice(-6)) };
}

/** Returns the moment of whole microseconds since the epoch; `undefined` for what is none, 0 included. */
export function momentOfUs(us: unknown): Moment | undefined {
  if (typeof us !== 'number' || !Number.isSafeInteger(us) || us <= 0) return undefined;
  return { ms: Math.floor(us / 1000), ns: (us % 1000) * 1000 };
}

/** Most digits of an unsigned number of 64 bits. */
const maxDigits = 20;

function digitsOf(ns: unknown): string | undefined {
  if (typeof ns === 'string') {
    return ns.length <= maxDigits && /^\d+$/.test(ns) ? ns : undefined;
  }
  if (typeof ns !== 'number' || !(ns >= 0) || ns >= 2 ** 64) return undefined;
  return BigInt(Math.floor(ns)).toString();
}

/** An id of up to 16 bytes, as some write it with the prefix of a number. */
const hexDigits = /^(?:0[xX])?([0-9a-fA-F]{1,32})$/;

/** Returns an id in lower case; '' for what is no id, zero included. */
export function hexId(id: unknown): string {
  if (typeof id !== 'string') return '';
  const [, digits] = hexDigits.exec(id) ?? [];
  return digits === undefined || /^0*$/.test(digits) ? '' : digits.toLowerCase();
}
