import { ProtoFault, ProtoReader, wireTypes } from '../protobuf/proto-reader.ts';

const NO_BYTES: Buffer = Buffer.alloc(0);
/** Fields of ExportTraceServiceRequest, ResourceSpans and ScopeSpans. */
const resourceSpans = 1;
const head = 1;
const items = 2;

/**
 * Finds the spans of an ExportTraceServiceRequest, in any order of fields: the collector writes a resource
 * after its spans. Of spans, resources and scopes it reads the length only. It allocates nothing.
 *
 * Definition: https://github.com/open-telemetry/opentelemetry-proto, trace/v1/trace.proto.
 */
export class OtlpEnvelope {
  readonly #fault = new ProtoFault();
  readonly #request = new ProtoReader(NO_BYTES, 0, 0, this.#fault);
  readonly #resource = new ProtoReader(NO_BYTES, 0, 0, this.#fault);
  readonly #scope = new ProtoReader(NO_BYTES, 0, 0, this.#fault);
  #bytes = NO_BYTES;
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

  /** Begins a message. */
  begin(bytes: Buffer): void {
    this.#bytes = bytes;
    this.#fault.clear();
    this.#request.begin(bytes, 0, bytes.length);
    this.#resource.begin(bytes, 0, 0);
    this.#scope.begin(bytes, 0, 0);
    this.resourceNumber = -1;
  }

  /** Sentence on what is wrong; undefined while nothing is. */
  get problem(): string | undefined {
    const { text, at } = this.#fault;
    if (text === '') return undefined;
    return `The message must be an OTLP request in protobuf: at byte ${at}, ${text}`;
  }

  /** Goes to the next span; false at the end, or when something is wrong. */
  next(): boolean {
    for (;;) {
      while (this.#scope.next()) {
        if (this.#scope.field !== items) continue;
        if (!this.#scope.is(wireTypes.bytes)) return false;
        this.start = this.#scope.start;
        this.end = this.#scope.end;
        return true;
      }
      if (!this.#nextScope()) return false;
    }
  }

  #nextScope(): boolean {
    for (;;) {
      while (this.#resource.next()) {
        if (this.#resource.field !== items) continue;
        if (!this.#resource.is(wireTypes.bytes)) return false;
        const { start, end } = this.#resource;
        if (!this.#findHead(this.#scope, start, end, 'scope')) return false;
        this.scopeStart = this.#scope.start;
        this.scopeEnd = this.#scope.end;
        this.#scope.begin(this.#bytes, start, end);
        return true;
      }
      if (!this.#nextResource()) return false;
    }
  }

  #nextResource(): boolean {
    const request = this.#request;
    do {
      if (!request.next()) return false;
    } while (request.field !== resourceSpans);
    if (!request.is(wireTypes.bytes)) return false;
    if (!this.#findHead(this.#resource, request.start, request.end, 'resource')) return false;
    this.resourceNumber++;
    this.resourceStart = this.#resource.start;
    this.resourceEnd = this.#resource.end;
    this.#resource.begin(this.#bytes, request.start, request.end);
    return true;
  }

  /** Sets the reader's range to field 1 of the message at `[start, end)`, or to an empty one. */
  #findHead(reader: ProtoReader, start: number, end: number, name: string): boolean {
    reader.begin(this.#bytes, start, end);
    let [from, to] = [-1, -1];
    while (reader.next()) {
      if (reader.field !== head) continue;
      if (!reader.is(wireTypes.bytes)) return false;
      if (from >= 0) {
        this.#fault.set(`there must be one ${name}, and there is another`, reader.at);
        return false;
      }
      [from, to] = [reader.start, reader.end];
    }
    reader.start = Math.max(0, from);
    reader.end = Math.max(0, to);
    return this.#fault.text === '';
  }
}

/** Range of bytes. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Returns a request of one span with its resource and scope. */
export function requestOfSpan(
  bytes: Buffer,
  resource: ByteRange,
  scope: ByteRange,
  span: ByteRange,
): Buffer {
  const part = (number: number, { start, end }: ByteRange) =>
    field(number, bytes.subarray(start, end));
  const optional = (range: ByteRange) => (range.end > range.start ? part(head, range) : NO_BYTES);
  const spans = field(items, Buffer.concat([optional(scope), part(items, span)]));
  return field(resourceSpans, Buffer.concat([optional(resource), spans]));
}

/** Returns a field of bytes; its number is below 16. */
function field(number: number, value: Buffer): Buffer {
  const tag = [(number << 3) | wireTypes.bytes];
  let left = value.length;
  for (; left >= 0x80; left >>>= 7) tag.push((left & 0x7f) | 0x80);
  return Buffer.concat([Buffer.from([...tag, left]), value]);
}
