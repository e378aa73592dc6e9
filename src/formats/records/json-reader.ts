import { isUtf8 } from 'node:buffer';
import { limits } from '../../base/limits.ts';
import type { Rejection } from '../../decode/decode-event.ts';
import type { ReadHeaders } from '../../source/record.ts';
import { bracketsExcess } from '../json-brackets.ts';
import { shownLine, type TextLines } from '../mapping/text-lines.ts';
import { frameFault, frameOf } from './confluent-frame.ts';
import {
  elementSpans,
  lineSpans,
  nestsDeeper,
  type Span,
  trimmed,
  valueEnd,
} from './json-spans.ts';
import { type Framing, RecordFault, type RecordReader, type RecordSink } from './record-reader.ts';
import { shownMessage } from './shown-bytes.ts';

/**
 * Reads messages of JSON: one object, an array of objects, or one object a line. Each object is a record, and
 * so is each line that is none: it is rejected alone, unless it is of the `lines` of its mapping. With
 * `framing: confluent` the id before it is passed over; JSON is read without its schema.
 */
export class JsonReader implements RecordReader {
  readonly #isFramed: boolean;
  /** Start of the JSON in the message. */
  #start = 0;
  readonly #lines: TextLines | undefined;

  constructor(framing: Framing, lines: TextLines | undefined) {
    this.#lines = lines;
    this.#isFramed = framing === 'confluent';
  }

  read(message: Buffer, sink: RecordSink, headers?: ReadHeaders): void {
    if (this.#isFramed) {
      const frame = frameOf(message, headers);
      this.#start = frame?.start ?? 0;
      if (frame === undefined) {
        const { reason, message: detail } = frameFault('invalid_json', message, headers);
        sink.reject(reason, detail, 0, message.length);
        return;
      }
    }
    const start = this.#start + (hasMark(message, this.#start) ? 3 : 0);
    const whole = { start, end: message.length };
    const excess = message.length > plainBytes ? excessOf(message, whole) : undefined;
    if (excess !== undefined) {
      sink.reject(excess.reason, excess.detail, 0, message.length);
      return;
    }
    const value = parsedOrUndefined(message, whole);
    if (Array.isArray(value)) this.#array(message, whole, value, sink);
    else if (value !== undefined)
      this.#put(message, value, { start: 0, end: message.length }, sink);
    else this.#each(message, whole, sink);
  }

  /** An array that was one of several values is put into another one, else it would be taken apart. */
  letter(message: Buffer, start: number, end: number): Buffer {
    if (start === 0 && end === message.length) return message;
    const part = message.subarray(start, end);
    const isArray = part[0] === 0x5b;
    const header = message.subarray(0, this.#start);
    if (!isArray) return this.#start === 0 ? part : Buffer.concat([header, part]);
    return Buffer.concat([header, Buffer.from('['), part, Buffer.from(']')]);
  }

  #array(message: Buffer, whole: Span, items: readonly unknown[], sink: RecordSink): void {
    if (items.length === 0) {
      const detail = 'The array must hold an event: it is empty';
      sink.reject('empty_message', detail, 0, message.length);
      return;
    }
    let count = 0;
    for (const span of elementSpans(message, whole)) {
      if (isRestRejected(message, span.start, sink)) return;
      this.#put(message, items[count++], span, sink);
    }
  }

  /** Reads one object or text a line. */
  #each(message: Buffer, whole: Span, sink: RecordSink): void {
    for (const span of lineSpans(message, whole)) {
      if (isRestRejected(message, span.start, sink)) return;
      try {
        this.#put(message, parsedLine(message, span, this.#lines), span, sink);
      } catch (error) {
        if (!(error instanceof RecordFault)) throw error;
        sink.reject(error.reason, error.message, span.start, span.end);
      }
    }
  }

  #put(message: Buffer, value: unknown, span: Span, sink: RecordSink): void {
    const { start, end } = span;
    if (end - start > limits.eventBytes) {
      const { reason, detail } = tooLarge(end - start);
      sink.reject(reason, detail, start, end);
    } else if (nestsDeeper(message, span, limits.nestingDepth)) {
      const detail = `An event must nest at most ${limits.nestingDepth} levels: it nests deeper`;
      sink.reject('too_deep', detail, start, end);
    } else if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      const found = shownMessage(message.subarray(start, end));
      sink.reject('not_an_object', `An event must be a JSON object: it is ${found}`, start, end);
    } else sink.record(value, start, end);
  }
}

function hasMark(message: Buffer, at: number): boolean {
  return message[at] === 0xef && message[at + 1] === 0xbb && message[at + 2] === 0xbf;
}

/** A message of more bytes is looked through before it is parsed: millions of values take seconds. */
const plainBytes = 64 * 1024;

/** Returns why a message is not parsed as a whole: an array of too much, or an object that is too large. */
function excessOf(message: Buffer, whole: Span): Rejection | undefined {
  const { start, end } = trimmed(message, whole);
  if (message[start] === 0x5b) return bracketsExcess(message.subarray(start, end));
  if (end - start <= limits.eventBytes || valueEnd(message, { start, end }) < end) return undefined;
  return tooLarge(end - start);
}

function tooLarge(bytes: number): Rejection {
  const detail = `An event must have at most ${limits.eventBytes} bytes: it has ${bytes}`;
  return { reason: 'message_too_large', detail };
}

/** Value of the message if it is one; undefined for lines, and for what is broken. */
function parsedOrUndefined(message: Buffer, { start, end }: Span): unknown {
  if (!isUtf8(message.subarray(start, end))) return undefined;
  if (end - start > plainBytes && nestsDeeper(message, { start, end }, limits.messageDepth)) {
    return undefined;
  }
  // Most of the cost of a failed parse is its unused stack trace.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return JSON.parse(message.toString('utf8', start, end)) as unknown;
  } catch {
    return undefined;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** @throws {RecordFault} */
function parsedLine(message: Buffer, span: Span, lines: TextLines | undefined): unknown {
  const bytes = message.subarray(span.start, span.end);
  if (!isUtf8(bytes)) {
    throw new RecordFault('invalid_utf8', 'An event must be UTF-8: some bytes are not');
  }
  if (bytes.length > limits.eventBytes) return undefined;
  // Files with a mark each may have been put together.
  const start = span.start + (hasMark(message, span.start) ? 3 : 0);
  const value = parsedOrUndefined(message, { start, end: span.end });
  if (value !== undefined) return value;
  const text = message.toString('utf8', start, span.end);
  const object = lines?.read(text);
  if (object !== undefined) return object;
  const or = lines === undefined ? '' : `, or ${lines.what}`;
  const shown = shownMessage(bytes);
  const found =
    lines !== undefined && shown.startsWith('text') ? `text: ${shownLine(text)}` : shown;
  const detail = `An event must be valid JSON${or}: it is ${found}`;
  throw new RecordFault('invalid_json', detail);
}

/** Rejects the rest of a message from `start` where a limit is reached. */
function isRestRejected(message: Buffer, start: number, sink: RecordSink): boolean {
  const { excess } = sink;
  if (excess !== undefined) sink.reject('too_many_events', excess, start, message.length);
  return excess !== undefined;
}
