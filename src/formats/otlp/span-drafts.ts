import {
  type DecodeContext,
  decodeContext,
  decodeValue,
  type Rejection,
} from '../../decode/decode-event.ts';
import { DecodedEvent } from '../../decode/decoded-event.ts';
import type { DecodeSink } from '../../decode/event-decoder.ts';
import { isPlausibleTs } from '../../decode/is-plausible-ts.ts';
import type { RejectReason } from '../../decode/reject-reasons.ts';
import type { EventDraft, Origin } from '../format-reader.ts';
import type { Span } from '../span.ts';
import type { CallKind, Preset } from '../spans/presets/preset.ts';
import { callOf, emitSpan, type SpanEventSink } from '../spans/span-events.ts';
import { excessOfMessage } from '../spans/span-reader.ts';
import { emitByRules, type SpanRules } from '../spans/span-rules.ts';
import { NestedCalls } from '../spans/trace/nested-calls.ts';
import type { OtlpDecoderOptions } from './otlp-decoder-options.ts';

/**
 * Makes decoded events of spans that were read: by the presets, then by the contract. It is the reference for
 * spans read from bytes, and counts the items of a message.
 */
export class SpanDrafts implements SpanEventSink {
  readonly #presets: readonly Preset[];
  /** Adds the model to an event without one. */
  readonly #finish: (event: EventDraft) => EventDraft;
  readonly #rules: SpanRules | undefined;
  readonly #context: DecodeContext;
  readonly #event = new DecodedEvent();
  /** The contract's rejection of an event without a model, once there was one. */
  #missingModel: Rejection | undefined;
  #sink: DecodeSink | undefined;
  #start = 0;
  #end = 0;
  #rejected = 0;
  /** Position of the next item among those of the message. */
  index = 0;

  constructor({ presets, rules, model, ...options }: OtlpDecoderOptions) {
    this.#presets = presets;
    this.#rules = rules;
    this.#finish = (event) => (event.model === undefined ? { ...event, model } : event);
    this.#context = decodeContext(options);
  }

  /** Begins a message. */
  begin(sink: DecodeSink): void {
    this.#sink = sink;
    this.index = 0;
    this.#rejected = 0;
  }

  /** Sentence on the limit that the message has reached: its rest is one rejection. */
  get excess(): string | undefined {
    return excessOfMessage(this.index, this.#rejected);
  }

  /** Hands on the span at `[start, end)` of the message. */
  span(span: Span, origin: Origin, start: number, end: number): void {
    this.#start = start;
    this.#end = end;
    if (this.#rules === undefined) emitSpan(span, origin, this.#presets, this, this.#finish);
    else emitByRules(span, origin, this.#rules, this);
  }

  /** Which call a span is, whether its event is valid or not; undefined where it does not count. */
  kindOf(span: Span): CallKind | undefined {
    return callOf(span, this.#presets)?.kind;
  }

  /** The same where it is an event. */
  eventKindOf(span: Span): CallKind | undefined {
    return callOf(span, this.#presets)?.eventKind(this.#finish);
  }

  /** Returns the calls among the spans of a message that are around others; of rules there are none. */
  nestedCalls(spans: readonly Span[]): NestedCalls {
    const presets = this.#rules === undefined ? this.#presets : [];
    return new NestedCalls(spans, presets, this.#finish);
  }

  /** Rejects what stands at `[start, end)` of the message, an item of it. */
  rejectAt(reason: RejectReason, detail: string, start: number, end: number): void {
    this.#rejected++;
    this.#sink?.reject(this.index++, reason, detail, start, end);
  }

  draft(event: EventDraft): void {
    const rejection = this.#rejectionOf(event);
    if (rejection !== undefined) {
      this.rejectAt(rejection.reason, rejection.detail, this.#start, this.#end);
      return;
    }
    this.index++;
    this.#sink?.event(this.#event, this.#start, this.#end);
  }

  /** Fills the event, or returns a rejection. */
  #rejectionOf(draft: EventDraft): Rejection | undefined {
    const { ts, model } = draft;
    const lacksModel = model === undefined && typeof ts === 'number' && isPlausibleTs(ts);
    if (!lacksModel) return decodeValue(draft, this.#context, this.#event);
    // Libraries leave out the model of failed calls. The contract says of each what it says of the first.
    this.#missingModel ??= decodeValue(draft, this.#context, this.#event);
    return this.#missingModel;
  }

  reject(reason: RejectReason, detail: string): void {
    this.rejectAt(reason, detail, this.#start, this.#end);
  }

  skip(count: number): void {
    this.index += count;
    this.#sink?.skip(count);
  }
}
