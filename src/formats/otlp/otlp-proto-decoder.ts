import { limits } from '../../base/limits.ts';
import type { DecodeSink, EventDecoder } from '../../decode/event-decoder.ts';
import { isReadable } from '../../decode/readable-message.ts';
import { OtlpEnvelope, requestOfSpan } from '../spans/otlp-envelope.ts';
import { otlpSpan } from '../spans/otlp-proto.ts';
import { CompiledPresets } from './compiled-presets.ts';
import { EventMaker, outcomes } from './event-maker.ts';
import { MessageView } from './message-view.ts';
import type { OtlpDecoderOptions } from './otlp-decoder-options.ts';
import { Resource, Resources } from './resources.ts';
import { SpanDrafts } from './span-drafts.ts';
import { SpanScanner } from './span-scanner.ts';

/** Bytes of resources and scopes that the letters of one message repeat. Later letters are without them. */
const REPEATED_BYTES = limits.deadLetterBytesPerChunk;

/**
 * Decodes ExportTraceServiceRequests in protobuf: each span that a preset knows is an event, and any other is
 * none by intent. A plain span costs no allocation; `SpanDrafts` decides of any other.
 *
 * A first pass reads the messages around the spans. Where they are broken, the whole message is rejected, and
 * none of its spans counts. A span that is broken, or whose resource is, is rejected by itself. A request
 * without spans is valid and holds nothing.
 */
export class OtlpProtoDecoder implements EventDecoder {
  readonly #maxMessageBytes: number;
  /** Rules of single spans are for the general path. */
  readonly #hasRules: boolean;
  readonly #envelope = new OtlpEnvelope(limits.eventsPerMessage + 1);
  readonly #view = new MessageView();
  readonly #scanner: SpanScanner;
  readonly #maker: EventMaker;
  readonly #resources: Resources;
  readonly #noResource: Resource;
  readonly #drafts: SpanDrafts;
  #fallbackCount = 0;
  /** Whether a span is handed on, whose letter then needs its resource and scope. */
  #isInSpan = false;
  #repeatedBytes = 0;

  constructor(options: OtlpDecoderOptions) {
    this.#maxMessageBytes = options.maxMessageBytes;
    this.#hasRules = options.rules !== undefined;
    const compiled = new CompiledPresets(options.presets);
    const { keys, eventNames, exception, resourceKeys } = compiled;
    this.#scanner = new SpanScanner(this.#view, keys, eventNames, exception);
    this.#maker = new EventMaker(compiled, this.#scanner, options);
    this.#resources = new Resources(
      this.#view,
      resourceKeys,
      options.values,
      options.maxDimensionBytes,
    );
    this.#noResource = new Resource(new Map(), resourceKeys, options.maxDimensionBytes);
    this.#drafts = new SpanDrafts(options);
  }

  /** Number of spans that the general path decoded. */
  get fallbackCount(): number {
    return this.#fallbackCount;
  }

  decode(message: Buffer | null, sink: DecodeSink): number {
    this.#isInSpan = false;
    if (!isReadable(message, this.#maxMessageBytes, sink)) return 1;
    const envelope = this.#envelope;
    envelope.begin(message);
    const { problem } = envelope;
    if (problem !== undefined) {
      sink.reject(0, 'invalid_protobuf', problem, 0, message.length);
      return 1;
    }
    this.#repeatedBytes = 0;
    this.#view.begin(message);
    this.#scanner.begin();
    this.#maker.begin(message);
    this.#drafts.begin(sink);
    this.#spans(message, sink);
    this.#isInSpan = false;
    return this.#drafts.index;
  }

  letter(message: Buffer, start: number, end: number): Buffer {
    if (!this.#isInSpan) return message.subarray(start, end);
    const { resourceStart, resourceEnd, scopeStart, scopeEnd } = this.#envelope;
    const around = resourceEnd - resourceStart + scopeEnd - scopeStart;
    this.#repeatedBytes += around;
    const isRepeated = this.#repeatedBytes <= REPEATED_BYTES;
    const nothing = { start: 0, end: 0 };
    return requestOfSpan(
      message,
      isRepeated ? { start: resourceStart, end: resourceEnd } : nothing,
      isRepeated ? { start: scopeStart, end: scopeEnd } : nothing,
      { start, end },
    );
  }

  #spans(message: Buffer, sink: DecodeSink): void {
    const envelope = this.#envelope;
    const drafts = this.#drafts;
    let resourceNumber = -1;
    let resource = this.#noResource;
    while (envelope.next()) {
      const { start, end } = envelope;
      const { excess } = drafts;
      if (excess !== undefined) {
        this.#isInSpan = false;
        drafts.rejectAt('too_many_events', excess, start, message.length);
        return;
      }
      if (resourceNumber !== envelope.resourceNumber) {
        resourceNumber = envelope.resourceNumber;
        resource = this.#resources.find(message, envelope.resourceStart, envelope.resourceEnd);
      }
      this.#isInSpan = true;
      const { attributes } = resource;
      if ('detail' in attributes) {
        drafts.rejectAt(attributes.reason ?? 'invalid_protobuf', attributes.detail, start, end);
        continue;
      }
      const isPlain = !this.#hasRules && this.#scanner.scan(message, start, end);
      const outcome = isPlain ? this.#maker.make(message, resource) : outcomes.doubt;
      if (outcome === outcomes.event) {
        drafts.index++;
        sink.event(this.#maker.event, start, end);
      } else if (outcome === outcomes.skip) {
        drafts.skip(1);
      } else {
        this.#fallbackCount++;
        const span = otlpSpan(message, start, end, attributes);
        const origin = { bytes: () => this.letter(message, start, end) };
        if (!('detail' in span)) drafts.span(span, origin, start, end);
        else drafts.rejectAt(span.reason ?? 'invalid_protobuf', span.detail, start, end);
      }
    }
  }
}
