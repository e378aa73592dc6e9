import { limits } from '../../base/limits.ts';
import { type DecodeContext, decodeContext, decodeEvent, type Rejection } from '../decode-event.ts';
import type { DecodedEvent } from '../decoded-event.ts';
import type { DecoderOptions, DecodeSink, EventDecoder } from '../event-decoder.ts';
import { afterSpace } from '../json/json-scanner.ts';
import { EventKernel } from '../kernel/event-kernel.ts';
import { EventScanner } from './event-scanner.ts';
import { isReadable } from './readable-message.ts';

const NEWLINE = 0x0a;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
/** Budget for searching the ends of broken events: times the length of a message, and some bytes. */
const SEARCH_FACTOR = 4;
const SEARCH_BYTES = 64 * 1024;

export interface MessageDecoderOptions extends DecoderOptions {
  /** Reads events of known shapes; `null`: JavaScript reads all. @default {the thread's} */
  readonly kernel?: EventKernel | null;
}

/**
 * Splits messages into timing events and decodes each: one object, several (one after another, one a line, or
 * over many lines), or an array. It never throws, and the sink receives every event exactly once, as an event
 * or as a rejection.
 *
 * A plain event costs no allocation; any other costs a JSON.parse. The interners may be cleared between two
 * messages.
 */
export class MessageDecoder implements EventDecoder {
  readonly #maxMessageBytes: number;
  readonly #context: DecodeContext;
  readonly #scanner: EventScanner;
  readonly #event: DecodedEvent;
  #fallbackCount = 0;
  /**
   * Bytes beyond its own line that may still be searched for the end of broken events. Without a bound,
   * brackets that open on every line and never close would be searched once a line.
   */
  #searchBytes = 0;
  #newline = -1;

  constructor(options: MessageDecoderOptions) {
    this.#maxMessageBytes = options.maxMessageBytes;
    this.#context = decodeContext(options);
    const kernel = options.kernel === undefined ? EventKernel.shared() : options.kernel;
    this.#scanner = new EventScanner(this.#context, options, kernel ?? undefined);
    this.#event = this.#scanner.event;
  }

  /** Number of events that the general path decoded, valid or not. */
  get fallbackCount(): number {
    return this.#fallbackCount;
  }

  /** Number of events that the kernel has read. */
  get kernelCount(): number {
    return this.#scanner.kernelCount;
  }

  /** Decodes a message; returns the number of its events, valid or not. */
  decode(message: Buffer | null, sink: DecodeSink): number {
    if (!isReadable(message, this.#maxMessageBytes, sink)) return 1;
    const end = message.length;
    const hasMark = message[0] === 0xef && message[1] === 0xbb && message[2] === 0xbf;
    const pos = afterSpace(message, hasMark ? 3 : 0, end);
    if (pos === end) {
      const detail = `The message must hold an event: it is ${end === 0 ? 'empty' : 'blank'}`;
      sink.reject(0, 'empty_message', detail, 0, end);
      return 1;
    }
    this.#scanner.begin(message);
    this.#searchBytes = SEARCH_FACTOR * end + SEARCH_BYTES;
    this.#newline = -1;
    if (message[pos] === OPEN_BRACE) return this.#objects(message, pos, sink);
    if (message[pos] === OPEN_BRACKET) return this.#array(message, pos, sink);
    // Messages that begin otherwise cannot be split.
    this.#general(message, pos, end, 0, sink);
    return 1;
  }

  letter(message: Buffer, start: number, end: number): Buffer {
    return message.subarray(start, end);
  }

  /** Decodes objects one after another, with or without white space between. */
  #objects(message: Buffer, start: number, sink: DecodeSink): number {
    const end = message.length;
    let index = 0;
    let pos = start;
    while (pos < end) {
      if (index === limits.eventsPerMessage) {
        rejectRemainder(index, pos, end, sink);
        return index + 1;
      }
      const limit = this.#searchBytes < 0 ? this.#lineEnd(message, pos) : end;
      const after = this.#scanner.scan(message, pos, limit);
      if (after >= 0) {
        sink.event(this.#event, pos, after);
        pos = after;
      } else {
        pos = this.#doubtfulObject(message, pos, index, sink);
      }
      index++;
      if (pos < end) pos = afterSpace(message, pos, end);
    }
    return index;
  }

  /**
   * Decodes an event that the scanner left. It ends where its brackets close. An event that is not JSON ends
   * at its first newline at the latest, so that a broken line costs no other. Returns its end.
   */
  #doubtfulObject(message: Buffer, pos: number, index: number, sink: DecodeSink): number {
    const lineEnd = this.#lineEnd(message, pos);
    let after = message[pos] === OPEN_BRACE ? this.#spanEnd(message, pos, lineEnd) : lineEnd;
    this.#fallbackCount++;
    let rejection = decodeEvent(message, pos, after, this.#context, this.#event);
    if (rejection !== undefined && after > lineEnd && !isWhole(rejection, message, pos, after)) {
      this.#searchBytes -= after - lineEnd;
      after = lineEnd;
      rejection = decodeEvent(message, pos, after, this.#context, this.#event);
    }
    if (rejection === undefined) sink.event(this.#event, pos, after);
    else sink.reject(index, rejection.reason, rejection.detail, pos, after);
    return after;
  }

  /** Position of the first newline from `pos` on, or the message's end: searched once a line. */
  #lineEnd(message: Buffer, pos: number): number {
    if (this.#newline < pos) {
      const newline = message.indexOf(NEWLINE, pos);
      this.#newline = newline < 0 ? message.length : newline;
    }
    return this.#newline;
  }

  /** Position where the object at `pos` closes, or its line's end if it does not. */
  #spanEnd(message: Buffer, pos: number, lineEnd: number): number {
    const end = this.#searchBytes < 0 ? lineEnd : message.length;
    let after = spanEnd(message, pos, end, limits.nestingDepth);
    // An event that nests too deep is still one event, if it closes at all.
    if (after < 0 && ~after < end && message[~after] !== NEWLINE) {
      after = spanEnd(message, pos, end, end);
    }
    if (after >= 0) return after;
    this.#searchBytes -= Math.max(0, ~after - lineEnd);
    return lineEnd;
  }

  /** Decodes an array of events. After a broken one, the rest of the message is one rejection. */
  #array(message: Buffer, start: number, sink: DecodeSink): number {
    const end = message.length;
    let pos = afterSpace(message, start + 1, end);
    if (pos < end && message[pos] === CLOSE_BRACKET && afterSpace(message, pos + 1, end) === end) {
      sink.reject(0, 'empty_message', 'The array must hold an event: it is empty', start, end);
      return 1;
    }
    for (let index = 0; ; index++) {
      if (index === limits.eventsPerMessage) {
        rejectRemainder(index, pos, end, sink);
        return index + 1;
      }
      const close = this.#element(message, pos, index, sink);
      if (close < 0) return index + 1;
      pos = afterSpace(message, close + 1, end);
      if (message[close] === COMMA) continue;
      if (pos === end) return index + 1;
      const detail = 'The message must end with its array: more follows';
      sink.reject(index + 1, 'invalid_json', detail, pos, end);
      return index + 2;
    }
  }

  /** Decodes one element; returns the position of the comma or bracket after it, or -1. */
  #element(message: Buffer, pos: number, index: number, sink: DecodeSink): number {
    const end = message.length;
    const after = this.#scanner.scan(message, pos, end);
    if (after >= 0) {
      const next = afterSpace(message, after, end);
      if (next < end && (message[next] === COMMA || message[next] === CLOSE_BRACKET)) {
        sink.event(this.#event, pos, after);
        return next;
      }
    }
    const close = elementEnd(message, pos, end);
    if (close < 0 || message[close] === 0x7d) {
      const detail = 'The array must be closed with "]": it breaks off within or after this event';
      this.#fallbackCount++;
      sink.reject(index, 'invalid_json', detail, pos, end);
      return -1;
    }
    this.#general(message, pos, close, index, sink);
    return close;
  }

  #general(message: Buffer, pos: number, end: number, index: number, sink: DecodeSink): void {
    this.#fallbackCount++;
    const rejection = decodeEvent(message, pos, end, this.#context, this.#event);
    if (rejection === undefined) sink.event(this.#event, pos, end);
    else sink.reject(index, rejection.reason, rejection.detail, pos, end);
  }
}

/** Returns true if a rejected event of several lines is one event: JSON, but for its encoding or depth. */
function isWhole(rejection: Rejection, message: Buffer, start: number, end: number): boolean {
  if (rejection.reason !== 'invalid_utf8') return rejection.reason !== 'invalid_json';
  try {
    JSON.parse(message.toString('utf8', start, end));
    return true;
  } catch {
    return false;
  }
}

function rejectRemainder(index: number, pos: number, end: number, sink: DecodeSink): void {
  const detail = `A message must hold at most ${limits.eventsPerMessage} events: it holds more`;
  sink.reject(index, 'too_many_events', detail, pos, end);
}

/**
 * Position of the comma or closing bracket after the array element at `pos`, found by brackets and strings
 * alone. It is -1 if the array does not close before `end`.
 */
function elementEnd(bytes: Uint8Array, pos: number, end: number): number {
  let depth = 0;
  for (let i = pos; i < end; i++) {
    const byte = bytes[i] as number;
    if (byte === 0x22) {
      i++;
      while (i < end && bytes[i] !== 0x22) i += bytes[i] === 0x5c ? 2 : 1;
    } else if (byte === 0x7b || byte === 0x5b) {
      depth++;
    } else if (byte === 0x7d || byte === 0x5d) {
      if (depth === 0) return i;
      depth--;
    } else if (byte === 0x2c && depth === 0) {
      return i;
    }
  }
  return -1;
}

/**
 * Position after the object or array that begins at `pos`, found by brackets and strings alone. So the events
 * of a message are separated even if one is not JSON.
 *
 * Without an end, the bitwise complement of a position. It is `end`, or that of the bracket that opens more
 * than `maxDepth` levels. Or it is a newline within a string, which JSON forbids: the bytes after it may be
 * text or structure.
 */
function spanEnd(bytes: Uint8Array, pos: number, end: number, maxDepth: number): number {
  let depth = 0;
  for (let i = pos; i < end; i++) {
    const byte = bytes[i] as number;
    if (byte === 0x22) {
      i++;
      while (i < end && bytes[i] !== 0x22) {
        if (bytes[i] === 0x0a) return ~i;
        i += bytes[i] === 0x5c ? 2 : 1;
      }
    } else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > maxDepth) return ~i;
    } else if (byte === 0x7d || byte === 0x5d) {
      if (--depth === 0) return i + 1;
    }
  }
  return ~end;
}
