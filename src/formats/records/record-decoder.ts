import { limits } from '../../base/limits.ts';
import {
  type DecodeContext,
  decodeContext,
  decodeValue,
  type Rejection,
} from '../../decode/decode-event.ts';
import { DecodedEvent } from '../../decode/decoded-event.ts';
import type { DecoderOptions, DecodeSink, EventDecoder } from '../../decode/event-decoder.ts';
import { isReadable } from '../../decode/message/readable-message.ts';
import type { RejectReason } from '../../decode/reject-reasons.ts';
import type { ReadHeaders } from '../../source/record.ts';
import type { Mapped, ReadTexts } from '../mapping/compile-mapping.ts';
import type { SeenRequests } from '../mapping/seen-requests.ts';
import type { Reading, RecordReader, RecordSink } from './record-reader.ts';

export interface RecordDecoderOptions extends DecoderOptions {
  readonly reader: RecordReader;
  /**
   * Makes events of records: a compiled mapping. @default {a record's own fields are those of a timing
   * event}
   */
  readonly map?: ((record: object, headers: ReadTexts) => Mapped) | undefined;
  /**
   * Requests that `map` remembers, which are forgotten with each message: what counts may not depend on
   * where a process began to read.
   *
   * @default {it remembers none}
   */
  readonly seen?: SeenRequests | undefined;
}

/**
 * Decodes messages of Avro, Protobuf or JSON by a mapping. A message of Avro or Protobuf is one record; one
 * of JSON may hold several, and a record's index is its position among them. A dead letter is the message
 * itself, or the record as a separate message.
 */
export class RecordDecoder implements EventDecoder, RecordSink {
  readonly #reader: RecordReader;
  readonly #map: RecordDecoderOptions['map'];
  readonly #seen: SeenRequests | undefined;
  readonly #maxMessageBytes: number;
  readonly #context: DecodeContext;
  readonly #event = new DecodedEvent();
  #sink: DecodeSink | undefined;
  #index = 0;
  #headers: ReadHeaders | undefined;
  /** Headers of the message, once a record has asked for them. */
  #texts: Readonly<Record<string, string>> | undefined;
  readonly #readTexts = () => {
    this.#texts ??= textsOf(this.#headers);
    return this.#texts;
  };
  #rejected = 0;

  constructor(options: RecordDecoderOptions) {
    const { reader, map, seen, maxMessageBytes } = options;
    this.#reader = reader;
    this.#map = map;
    this.#seen = seen;
    this.#maxMessageBytes = maxMessageBytes;
    this.#context = decodeContext(options);
  }

  prepare(message: Buffer, headers?: ReadHeaders): Promise<void> | undefined {
    if (message.length > this.#maxMessageBytes) return undefined;
    return this.#reader.prepare?.(message, headers);
  }

  decode(message: Buffer | null, sink: DecodeSink, headers?: ReadHeaders): number {
    if (!isReadable(message, this.#maxMessageBytes, sink)) return 1;
    const size = message.length;
    this.#index = 0;
    this.#rejected = 0;
    this.#sink = sink;
    this.#headers = headers;
    this.#texts = undefined;
    this.#seen?.clear();
    if (size > 0) this.#reader.read(message, this, headers);
    if (this.#index === 0) {
      const found = size === 0 ? 'empty' : 'blank';
      const detail = `The message must hold an event: it is ${found}`;
      this.reject('empty_message', detail, 0, size);
    }
    return this.#index;
  }

  letter(message: Buffer, start: number, end: number): Buffer {
    return this.#reader.letter?.(message, start, end) ?? message.subarray(start, end);
  }

  /** Asked by the reader. */
  get excess(): string | undefined {
    if (this.#index >= limits.eventsPerMessage) {
      return `A message must hold at most ${limits.eventsPerMessage} events: it holds more`;
    }
    if (this.#rejected < limits.rejectedPerMessage) return undefined;
    return `At most ${limits.rejectedPerMessage} events of a message must be invalid: more may be`;
  }

  /** Called by the reader. */
  record(record: object, start: number, end: number): void {
    const found = this.#read(record);
    if (found === 'skip') {
      this.#index++;
      this.#sink?.skip(1);
    } else if (found === 'event') {
      this.#index++;
      this.#sink?.event(this.#event, start, end);
    } else this.reject(found.reason, found.detail, start, end);
  }

  /** Called by the reader. */
  oneOf(readings: readonly Reading[], start: number, end: number): boolean {
    const events = readings.filter(({ sent }) => {
      this.#seen?.clear();
      return this.#read(sent) === 'event';
    });
    this.#seen?.clear();
    const [only] = events;
    if (only === undefined || events.length > 1) return false;
    this.record(only.record, start, end);
    return true;
  }

  /** Reads a record to the event, unless it is skipped or rejected. */
  #read(record: object): 'event' | 'skip' | Rejection {
    const mapped = this.#map === undefined ? { draft: record } : this.#map(record, this.#readTexts);
    if (mapped === 'skip') return mapped;
    if (!('draft' in mapped)) {
      // Only readers of lines of files give that reason.
      const reason = mapped.reason === 'invalid_line' ? 'invalid_json' : mapped.reason;
      return { reason, detail: mapped.detail };
    }
    return decodeValue(mapped.draft, this.#context, this.#event) ?? 'event';
  }

  /** Called by the reader. */
  reject(reason: RejectReason, detail: string, start: number, end: number): void {
    this.#rejected++;
    this.#sink?.reject(this.#index++, reason, detail, start, end);
  }
}

function textsOf(headers: ReadHeaders | undefined): Readonly<Record<string, string>> {
  const found = headers === undefined ? [] : [...headers()];
  return Object.fromEntries(found.map(([name, value]) => [name, value.toString()]));
}
