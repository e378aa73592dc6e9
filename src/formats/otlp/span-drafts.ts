import { type DecodeContext, decodeValue } from '../../decode/decode-event.ts';
import { DecodedEvent } from '../../decode/decoded-event.ts';
import type { DecodeSink } from '../../decode/event-decoder.ts';
import type { RejectReason } from '../../decode/reject-reasons.ts';
import { contractOf } from '../../decode/shared-contract.ts';
import type { EventDraft, Origin } from '../format-reader.ts';
import type { Preset } from '../spans/presets/preset.ts';
import type { Span } from '../spans/span.ts';
import { emitSpan, type SpanEventSink } from '../spans/span-events.ts';
import type { OtlpDecoderOptions } from './otlp-decoder-options.ts';

/**
 * Makes decoded events of spans that were read: by the presets, then by the contract. It is the reference for
 * spans read from bytes, and counts the items of a message.
 */
export class SpanDrafts implements SpanEventSink {
  readonly #presets: readonly Preset[];
  /** Adds the model to an event without one. */
  readonly #finish: (event: EventDraft) => EventDraft;
  readonly #context: DecodeContext;
  readonly #event = new DecodedEvent();
  #sink: DecodeSink | undefined;
  #start = 0;
  #end = 0;
  /** Position of the next item among those of the message. */
  index = 0;

  constructor({ presets, model, ...options }: OtlpDecoderOptions) {
    this.#presets = presets;
    this.#finish = (event) => (event.model === undefined ? { ...event, model } : event);
    const { stages, values } = options;
    this.#context = { contract: contractOf(options), stages, values };
  }

  /** Begins a message. */
  begin(sink: DecodeSink): void {
    this.#sink = sink;
    this.index = 0;
  }

  /** Hands on the span at `[start, end)` of the message. */
  span(span: Span, origin: Origin, start: number, end: number): void {
    this.#start = start;
    this.#end = end;
    emitSpan(span, origin, this.#presets, this, this.#finish);
  }

  /** Rejects what stands at `[start, end)` of the message, an item of it. */
  rejectAt(reason: RejectReason, detail: string, start: number, end: number): void {
    this.#sink?.reject(this.index++, reason, detail, start, end);
  }

  draft(event: EventDraft): void {
    const rejection = decodeValue(event, this.#context, this.#event);
    if (rejection !== undefined) {
      this.rejectAt(rejection.reason, rejection.detail, this.#start, this.#end);
      return;
    }
    this.index++;
    this.#sink?.event(this.#event, this.#start, this.#end);
  }

  reject(reason: RejectReason, detail: string): void {
    this.rejectAt(reason, detail, this.#start, this.#end);
  }

  skip(count: number): void {
    this.index += count;
    this.#sink?.skip(count);
  }
}
