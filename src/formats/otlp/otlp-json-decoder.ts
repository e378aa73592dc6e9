import { isUtf8 } from 'node:buffer';
import { limits } from '../../base/limits.ts';
import type { DecodeSink, EventDecoder } from '../../decode/event-decoder.ts';
import { binaryHint } from '../../decode/foreign-form.ts';
import { isReadable } from '../../decode/message/readable-message.ts';
import type { RejectReason } from '../../decode/reject-reasons.ts';
import { readNames } from '../../series/own-attributes.ts';
import type { Origin } from '../format-reader.ts';
import { bracketsExcess } from '../json-brackets.ts';
import type { Span } from '../span.ts';
import { readOtlpJson } from '../spans/otlp-json.ts';
import { SpanInterpreter } from '../spans/rules/span-interpreter.ts';
import type { SpanRules } from '../spans/rules/span-rules.ts';
import { NestedCalls } from '../spans/trace/nested-calls.ts';
import type { OtlpDecoderOptions } from './otlp-decoder-options.ts';
import { SpanDrafts } from './span-drafts.ts';

/** Bytes of the letters of one message, each of which repeats a resource. Later ones are empty. */
const LETTER_BYTES = limits.deadLetterBytesPerChunk;
const NO_BYTES = Buffer.alloc(0);
const byteOrderMark = 3;

/** A span of a message, or what stands where one should. */
type Found =
  | { readonly span: Span; readonly origin: Origin }
  | { readonly detail: string; readonly origin: Origin; readonly reason: RejectReason };

/**
 * Decodes ExportTraceServiceRequests in JSON, with the events and counts of `OtlpProtoDecoder`. It parses the
 * whole message and costs some ten times as much.
 *
 * A message that is no JSON, or no request, is rejected as a whole; a value in place of a span, alone.
 */
export class OtlpJsonDecoder implements EventDecoder {
  readonly #maxMessageBytes: number;
  readonly #rules: SpanRules | undefined;
  readonly #interpreter: SpanInterpreter;
  readonly #drafts: SpanDrafts;
  /** Of the span that is handed on; undefined for the message as a whole. */
  #origin: Origin | undefined;
  #letterBytes = 0;

  constructor(options: OtlpDecoderOptions) {
    this.#maxMessageBytes = options.maxMessageBytes;
    this.#rules = options.rules;
    this.#interpreter = new SpanInterpreter(options.presets, readNames(options));
    this.#drafts = new SpanDrafts(options, this.#interpreter.presets);
  }

  decode(message: Buffer | null, sink: DecodeSink): number {
    this.#origin = undefined;
    this.#letterBytes = 0;
    if (!isReadable(message, this.#maxMessageBytes, sink)) return 1;
    const drafts = this.#drafts;
    drafts.begin(sink);
    const end = message.length;
    const whole = (reason: RejectReason, detail: string) => {
      this.#origin = undefined;
      drafts.rejectAt(reason, detail, 0, end);
      return drafts.index;
    };
    if (end === 0) return whole('empty_message', 'The message must hold a request: it is empty');
    if (!isUtf8(message))
      return whole(
        'invalid_utf8',
        `The message must be UTF-8: some bytes are not${binaryHint(message)}`,
      );
    const excess = bracketsExcess(message);
    if (excess !== undefined) return whole(excess.reason, excess.detail);
    const hasMark = message[0] === 0xef;
    const text = message.toString('utf8', hasMark ? byteOrderMark : 0);
    let isOver = false;
    const isWithin = (origin: Origin) => {
      const beyond = drafts.excess;
      this.#origin = origin;
      if (!isOver && beyond !== undefined) whole('too_many_events', beyond);
      isOver ||= beyond !== undefined;
      return !isOver;
    };
    const found: Found[] = [];
    const keep = (one: Found) => {
      if (found.length <= limits.eventsPerMessage) found.push(one);
    };
    const problem = readOtlpJson(text, {
      span: (span, origin) => keep({ span, origin }),
      malformed: (detail, origin, reason = 'bad_field') => keep({ detail, origin, reason }),
    });
    this.#handOn(found, end, isWithin);
    return problem === undefined ? drafts.index : whole('invalid_json', problem);
  }

  #handOn(found: readonly Found[], end: number, isWithin: (origin: Origin) => boolean): void {
    const drafts = this.#drafts;
    const spans = found.flatMap((one) => ('span' in one ? one.span : []));
    // Rules of single spans know no calls.
    const calls =
      this.#rules === undefined
        ? new NestedCalls(spans, this.#interpreter, drafts.finish)
        : undefined;
    let place = 0;
    for (const one of found) {
      const { origin } = one;
      const isOuter = 'span' in one && calls?.isOuter(place++) === true;
      if (!isWithin(origin)) return;
      if (isOuter) drafts.skip(1);
      else if ('span' in one) this.#span(one.span, origin, end);
      else drafts.rejectAt(one.reason, one.detail, 0, end);
    }
  }

  #span(span: Span, origin: Origin, end: number): void {
    if (this.#rules !== undefined) this.#drafts.byRules(span, this.#rules, origin, 0, end);
    else {
      this.#interpreter.of(span);
      this.#drafts.byPresets(origin, 0, end);
    }
  }

  letter(message: Buffer, start: number, end: number): Buffer {
    if (this.#origin === undefined) return message.subarray(start, end);
    if (this.#letterBytes >= LETTER_BYTES) return NO_BYTES;
    const letter = this.#origin.bytes();
    this.#letterBytes += letter.length;
    return letter;
  }
}
