import type { SpanIdsAt } from '../spans/trace/span-links.ts';
import { plainBytesEnd } from './plain-bytes.ts';

const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;
const NONE = -1;

/** Finds where the ids of a span in OTLP protobuf stand, without reading the rest of it. */
export class SpanIds implements SpanIdsAt {
  traceAt = NONE;
  spanAt = NONE;
  parentAt = NONE;

  /** Looks at the span at `[start, end)`. Returns false for one unlike those that writers write. */
  find(bytes: Buffer, start: number, end: number): boolean {
    // Nearly all begin with the ids, in this order.
    const spanTag = start + 2 + TRACE_ID_BYTES;
    const parentTag = spanTag + 2 + SPAN_ID_BYTES;
    if (
      bytes[start] === 0x0a &&
      bytes[start + 1] === TRACE_ID_BYTES &&
      bytes[spanTag] === 0x12 &&
      bytes[spanTag + 1] === SPAN_ID_BYTES &&
      bytes[parentTag] === 0x22 &&
      bytes[parentTag + 1] === SPAN_ID_BYTES &&
      parentTag + 2 + SPAN_ID_BYTES <= end
    ) {
      this.traceAt = start + 2;
      this.spanAt = spanTag + 2;
      this.parentAt = parentTag + 2;
      return true;
    }
    return this.#findLast(bytes, start, end) || this.#findAny(bytes, start, end);
  }

  /** The collector writes the fields of a span in falling order. */
  #findLast(bytes: Buffer, start: number, end: number): boolean {
    const traceTag = end - 2 - TRACE_ID_BYTES;
    const spanTag = traceTag - 2 - SPAN_ID_BYTES;
    const parentTag = spanTag - 2 - SPAN_ID_BYTES;
    const isThere =
      parentTag >= start &&
      bytes[traceTag] === 0x0a &&
      bytes[traceTag + 1] === TRACE_ID_BYTES &&
      bytes[spanTag] === 0x12 &&
      bytes[spanTag + 1] === SPAN_ID_BYTES &&
      bytes[parentTag] === 0x22 &&
      bytes[parentTag + 1] === SPAN_ID_BYTES;
    this.traceAt = traceTag + 2;
    this.spanAt = spanTag + 2;
    this.parentAt = parentTag + 2;
    return isThere;
  }

  #findAny(bytes: Buffer, start: number, end: number): boolean {
    this.traceAt = NONE;
    this.spanAt = NONE;
    this.parentAt = NONE;
    let pos = start;
    while (pos < end) {
      const tag = bytes[pos++];
      switch (tag) {
        case 0x0a:
        case 0x12:
        case 0x22: {
          const length = bytes[pos] as number;
          const at = length === 0 ? NONE : pos + 1;
          if (length !== 0 && length !== (tag === 0x0a ? TRACE_ID_BYTES : SPAN_ID_BYTES)) {
            return false;
          }
          if (tag === 0x0a) this.traceAt = at;
          else if (tag === 0x12) this.spanAt = at;
          else this.parentAt = at;
          pos += 1 + length;
          break;
        }
        // Start and end.
        case 0x39:
        case 0x41:
          pos += 8;
          break;
        // Kind and the counts of what was dropped.
        case 0x30:
        case 0x50:
        case 0x60:
        case 0x70:
          if ((bytes[pos++] as number) >= 0x80) return false;
          break;
        // Trace state, name, attributes, events, links and status.
        case 0x1a:
        case 0x2a:
        case 0x4a:
        case 0x5a:
        case 0x6a:
        case 0x7a:
          pos = plainBytesEnd(bytes, pos);
          if (pos < 0) return false;
          break;
        // Flags, of field 16.
        case 0x85:
          pos += 5;
          break;
        default:
          return false;
      }
    }
    return pos === end;
  }
}
