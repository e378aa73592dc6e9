import { grown } from '../../base/grown.ts';
import { registryHeader } from '../../decode/foreign-form.ts';
import { ProtoFault, ProtoReader, wireTypes } from '../protobuf/proto-reader.ts';

const NO_BYTES: Buffer = Buffer.alloc(0);
/** Fields of ExportTraceServiceRequest, ResourceSpans and ScopeSpans. */
const resourceSpans = 1;
const head = 1;
const items = 2;

/** Numbers kept of each span: where it starts and ends. */
const SPAN_NUMBERS = 2;
/** Numbers kept of each scope with spans, see `#keepScope`. */
const SCOPE_NUMBERS = 6;
const firstSpan = 0;
const resourceAt = 3;

/**
 * Finds the spans of an ExportTraceServiceRequest, in any order of fields: the collector writes a resource
 * after its spans. Of spans, resources and scopes it reads the length only. One pass over the message keeps
 * where everything stands, in memory that later messages use again.
 *
 * Definition: https://github.com/open-telemetry/opentelemetry-proto, trace/v1/trace.proto.
 */
export class OtlpEnvelope {
  readonly #maxSpans: number;
  #bytes = NO_BYTES;
  readonly #fault = new ProtoFault();
  readonly #request = new ProtoReader(NO_BYTES, 0, 0, this.#fault);
  readonly #resource = new ProtoReader(NO_BYTES, 0, 0, this.#fault);
  readonly #scope = new ProtoReader(NO_BYTES, 0, 0, this.#fault);
  #spans = new Int32Array(64 * SPAN_NUMBERS);
  #scopes = new Int32Array(8 * SCOPE_NUMBERS);
  #spanCount = 0;
  #scopeCount = 0;
  /** Next span, and the scope it may be the first of. */
  #nextSpan = 0;
  #nextScope = 0;
  /** Number of the span's ResourceSpans in the message: another number, another resource. */
  resourceNumber = -1;
  /** Range of its resource; empty where there is none. */
  resourceStart = 0;
  resourceEnd = 0;
  /** Range of its scope; empty where there is none. */
  scopeStart = 0;
  scopeEnd = 0;
  /** Range of the span. */
  start = 0;
  end = 0;

  /** @param maxSpans spans of a message that `next` gives; later ones are checked only. */
  constructor(maxSpans = Number.POSITIVE_INFINITY) {
    this.#maxSpans = maxSpans;
  }

  /** Begins a message; afterwards `problem` says whether it can be read. */
  begin(bytes: Buffer): void {
    this.#bytes = bytes;
    this.#fault.clear();
    this.#spanCount = 0;
    this.#scopeCount = 0;
    this.#nextSpan = 0;
    this.#nextScope = 0;
    const request = this.#request;
    request.begin(bytes, 0, bytes.length);
    for (let number = 0; request.next(); ) {
      if (request.field === resourceSpans && request.is(wireTypes.bytes)) {
        this.#readResource(bytes, request.start, request.end, number++);
      }
    }
  }

  /** Sentence on what is wrong; undefined where nothing is. */
  get problem(): string | undefined {
    const { text, at } = this.#fault;
    if (text === '') return undefined;
    const form = foreignForm(this.#bytes);
    return `The message must be an OTLP request in protobuf: at byte ${at}, ${text}${form}`;
  }

  /** Spans that `next` gives. */
  get spanCount(): number {
    return this.#spanCount;
  }

  /** Makes a span the next one. @param span its place among all, from 0 on. O(log(scopes)) */
  seek(span: number): void {
    let [low, high] = [0, this.#scopeCount];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#scopes[middle * SCOPE_NUMBERS + firstSpan] as number) <= span) low = middle;
      else high = middle;
    }
    this.#nextSpan = span;
    this.#nextScope = low;
    if (this.#scopeCount > 0) this.#enterScope();
  }

  /** Goes to the next span; false after the last. */
  next(): boolean {
    const span = this.#nextSpan++;
    if (span >= this.#spanCount) return false;
    const at = this.#nextScope * SCOPE_NUMBERS;
    if (this.#nextScope < this.#scopeCount && this.#scopes[at + firstSpan] === span) {
      this.#enterScope();
    }
    this.start = this.#spans[span * SPAN_NUMBERS] as number;
    this.end = this.#spans[span * SPAN_NUMBERS + 1] as number;
    return true;
  }

  #enterScope(): void {
    const scopes = this.#scopes;
    const at = this.#nextScope++ * SCOPE_NUMBERS;
    this.scopeStart = scopes[at + 1] as number;
    this.scopeEnd = scopes[at + 2] as number;
    this.resourceStart = scopes[at + resourceAt] as number;
    this.resourceEnd = scopes[at + resourceAt + 1] as number;
    this.resourceNumber = scopes[at + resourceAt + 2] as number;
  }

  #readResource(bytes: Buffer, start: number, end: number, number: number): void {
    const reader = this.#resource;
    const firstScope = this.#scopeCount;
    let [from, to] = [-1, -1];
    reader.begin(bytes, start, end);
    while (reader.next()) {
      if (reader.field === items && reader.is(wireTypes.bytes)) {
        this.#readScope(bytes, reader.start, reader.end);
      } else if (reader.field === head && this.#isOnly(reader, from, 'resource')) {
        [from, to] = [reader.start, reader.end];
      }
    }
    for (let scope = firstScope; scope < this.#scopeCount; scope++) {
      const at = scope * SCOPE_NUMBERS + resourceAt;
      this.#scopes[at] = Math.max(0, from);
      this.#scopes[at + 1] = Math.max(0, to);
      this.#scopes[at + 2] = number;
    }
  }

  #readScope(bytes: Buffer, start: number, end: number): void {
    const reader = this.#scope;
    const first = this.#spanCount;
    let [from, to] = [-1, -1];
    reader.begin(bytes, start, end);
    while (reader.next()) {
      if (reader.field === items && reader.is(wireTypes.bytes)) {
        if (this.#spanCount < this.#maxSpans) this.#keepSpan(reader.start, reader.end);
      } else if (reader.field === head && this.#isOnly(reader, from, 'scope')) {
        [from, to] = [reader.start, reader.end];
      }
    }
    if (this.#spanCount > first) this.#keepScope(first, Math.max(0, from), Math.max(0, to));
  }

  /** Returns true for the first one; a second one makes the message wrong. */
  #isOnly(reader: ProtoReader, before: number, name: string): boolean {
    if (!reader.is(wireTypes.bytes)) return false;
    if (before < 0) return true;
    this.#fault.set(`there must be one ${name}, and there is another`, reader.at);
    return false;
  }

  #keepSpan(start: number, end: number): void {
    const at = this.#spanCount++ * SPAN_NUMBERS;
    if (at === this.#spans.length) this.#spans = grown(this.#spans, at * 2);
    this.#spans[at] = start;
    this.#spans[at + 1] = end;
  }

  /** Keeps the first span of a scope and the scope's range; its resource and its number come later. */
  #keepScope(first: number, start: number, end: number): void {
    const at = this.#scopeCount++ * SCOPE_NUMBERS;
    if (at === this.#scopes.length) this.#scopes = grown(this.#scopes, at * 2);
    this.#scopes[at + firstSpan] = first;
    this.#scopes[at + 1] = start;
    this.#scopes[at + 2] = end;
  }
}

/** Names what a message seems to be that is no protobuf, for the sentence on it. */
function foreignForm(message: Buffer): string {
  const header = registryHeader(message, 0, message.length);
  if (header !== undefined) return `; ${header.split(';')[0]}`;
  if (message[0] === 0x5b) return '; it looks like a JSON list, as Zipkin writes its spans';
  if (message[0] !== 0x7b) return '';
  return message.includes('"resourceSpans"')
    ? '; it looks like JSON of OTLP, which is the format otlp_json'
    : '; it looks like JSON, but not of OTLP: read it by the format json, or timing for timing events';
}

/** Range of bytes. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Returns a request of one span with its resource and scope, each as it stands in the message. */
export function requestOfSpan(
  bytes: Buffer,
  resource: ByteRange,
  scope: ByteRange,
  span: ByteRange,
): Buffer {
  const parts = (number: number, { start, end }: ByteRange) => [
    headOf(number, end - start),
    bytes.subarray(start, end),
  ];
  const optional = (range: ByteRange) => (range.end > range.start ? parts(head, range) : []);
  const inScope = [...optional(scope), ...parts(items, span)];
  const inResource = [...optional(resource), headOf(items, lengthOf(inScope)), ...inScope];
  return Buffer.concat([headOf(resourceSpans, lengthOf(inResource)), ...inResource]);
}

function lengthOf(parts: readonly Buffer[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

/** Returns what stands before a value of `bytes`: the tag of a field below 16, and the length. */
function headOf(number: number, length: number): Buffer {
  const head = [(number << 3) | wireTypes.bytes];
  let left = length;
  for (; left >= 0x80; left >>>= 7) head.push((left & 0x7f) | 0x80);
  return Buffer.from([...head, left]);
}
