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
import type { PresetInterpreter } from '../spans/rules/preset-interpreter.ts';
import type { SpanEventSink } from '../spans/rules/span-events.ts';
import { emitByRules, type SpanRules } from '../spans/rules/span-rules.ts';
import { excessOfMessage } from '../spans/span-reader.ts';
import type { OtlpDecoderOptions } from './otlp-decoder-options.ts';

/**
 * Makes decoded events of spans by the presets or rules, then by the contract, which alone rejects them. It
 * counts the items of a message.
 */
export class SpanDrafts implements SpanEventSink {
  readonly #interpreter: PresetInterpreter;
  /** Adds the model to an event without one. */
  readonly finish: (event: EventDraft) => EventDraft;
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

  /** @param interpreter of the presets, at whose span `byPresets` looks. */
  constructor({ model, ...options }: OtlpDecoderOptions, interpreter: PresetInterpreter) {
    this.#interpreter = interpreter;
    this.finish = (event) => (event.model === undefined ? { ...event, model } : event);
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

  /** Hands on the interpreter's span, which stands at `[start, end)` of the message. */
  byPresets(origin: Origin, start: number, end: number): void {
    this.#start = start;
    this.#end = end;
    this.#interpreter.emit(origin, this, this.finish);
  }

  /** Hands on a span by the rules of single spans. */
  byRules(span: Span, rules: SpanRules, origin: Origin, start: number, end: number): void {
    this.#start = start;
    this.#end = end;
    emitByRules(span, origin, rules, this);
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
