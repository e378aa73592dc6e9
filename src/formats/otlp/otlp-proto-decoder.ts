import { limits } from '../../base/limits.ts';
import type { DecodeSink, EventDecoder } from '../../decode/event-decoder.ts';
import { isReadable } from '../../decode/readable-message.ts';
import type { Attributes } from '../span.ts';
import { OtlpEnvelope, requestOfSpan } from '../spans/otlp-envelope.ts';
import { otlpSpan } from '../spans/otlp-proto.ts';
import { type CallKind, callKinds } from '../spans/presets/preset.ts';
import { SpanLinks } from '../spans/trace/span-links.ts';
import { CompiledPresets } from './compiled-presets.ts';
import { EventMaker, outcomes } from './event-maker.ts';
import { MessageView } from './message-view.ts';
import type { OtlpDecoderOptions } from './otlp-decoder-options.ts';
import { ParentFilter } from './parent-filter.ts';
import { Resource, Resources } from './resources.ts';
import { SpanDrafts } from './span-drafts.ts';
import { SpanIds } from './span-ids.ts';
import { SpanScanner } from './span-scanner.ts';

/** Bytes of resources and scopes that the letters of one message repeat. Later letters are without them. */
const REPEATED_BYTES = limits.deadLetterBytesPerChunk;

/**
 * Decodes ExportTraceServiceRequests in protobuf: each span that a preset knows is an event, and any other
 * is none by intent. Nor is a call around one that counts. A plain span costs no allocation; `SpanDrafts`
 * decides of any other.
 *
 * A first pass reads the messages around the spans. Where they are broken, the whole message is rejected,
 * and none of its spans counts. A span that is broken, or whose resource is, is rejected alone. A request
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
  readonly #drafts: SpanDrafts;
  readonly #links = new SpanLinks();
  readonly #ids = new SpanIds();
  readonly #filter = new ParentFilter();
  /** Kinds of calls that are events, by the places of their spans; undefined: not asked yet. */
  readonly #kinds: (CallKind | 'none' | undefined)[] = [];
  #resource: Resource;
  #resourceNumber = -1;
  #fallbackCount = 0;
  /** True while a span is handed on; a letter of it then needs its resource and scope. */
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
    this.#resource = new Resource(new Map(), resourceKeys, options.maxDimensionBytes);
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
    this.#resourceNumber = -1;
    // It is asked for with the first span that may be an event.
    let isLinked: boolean | undefined;
    for (let place = 0; envelope.next(); place++) {
      const { start, end } = envelope;
      const { excess } = drafts;
      if (excess !== undefined) {
        this.#isInSpan = false;
        drafts.rejectAt('too_many_events', excess, start, message.length);
        return;
      }
      this.#isInSpan = true;
      const { attributes } = this.#resourceAt(message);
      if ('detail' in attributes) {
        drafts.rejectAt(attributes.reason ?? 'invalid_protobuf', attributes.detail, start, end);
        continue;
      }
      let outcome = this.#make(message);
      if (outcome !== outcomes.skip) isLinked ??= this.#link(message, place);
      if (isLinked === true && outcome !== outcomes.skip && this.#links.hasChildren(place)) {
        if (this.#isOuter(message, place, outcome)) outcome = outcomes.skip;
        else outcome = this.#make(message);
      }
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

  /** Resource of the envelope's span. */
  #resourceAt(message: Buffer): Resource {
    const { resourceNumber, resourceStart, resourceEnd } = this.#envelope;
    if (this.#resourceNumber !== resourceNumber) {
      this.#resourceNumber = resourceNumber;
      this.#resource = this.#resources.find(message, resourceStart, resourceEnd);
    }
    return this.#resource;
  }

  /** Makes an event of the envelope's span, whose resource `#resourceAt` has returned. */
  #make(message: Buffer): number {
    const { start, end } = this.#envelope;
    const isPlain = !this.#hasRules && this.#scanner.scan(message, start, end);
    return isPlain ? this.#maker.make(message, this.#resource) : outcomes.doubt;
  }

  /**
   * Links the spans of a message. Returns false where none is below another one. Leaves the envelope at
   * `place`.
   */
  #link(message: Buffer, place: number): boolean {
    if (this.#hasRules || this.#envelope.spanCount < 2) return false;
    const isLinked = this.#mayNest(message) && this.#linkAll(message);
    this.#goTo(message, place);
    return isLinked;
  }

  #mayNest(message: Buffer): boolean {
    const envelope = this.#envelope;
    const filter = this.#filter;
    const { view, base } = this.#view;
    filter.begin();
    envelope.seek(0);
    while (envelope.next()) {
      if (!this.#ids.find(message, envelope.start, envelope.end)) return true;
      filter.add(view, base, this.#ids);
    }
    return filter.mayNest();
  }

  #linkAll(message: Buffer): boolean {
    const envelope = this.#envelope;
    const links = this.#links;
    const { view, base } = this.#view;
    links.begin();
    envelope.seek(0);
    while (envelope.next()) {
      const { start, end } = envelope;
      if (this.#ids.find(message, start, end)) links.addAt(view, base, this.#ids);
      else {
        const span = otlpSpan(message, start, end, noAttributes);
        links.add('detail' in span ? noIds : span);
      }
    }
    this.#kinds.length = 0;
    return links.link();
  }

  /**
   * True if the span at a place is a call around one that counts, see `NestedCalls`. Leaves the envelope
   * there.
   */
  #isOuter(message: Buffer, place: number, outcome: number): boolean {
    const kind = this.#kindOf(message, outcome, false);
    const isAbove = this.#links.isAbove(place, (below) => {
      this.#kinds[below] ??= this.#eventKindAt(message, below);
      return this.#kinds[below] === kind;
    });
    this.#goTo(message, place);
    return isAbove;
  }

  #eventKindAt(message: Buffer, place: number): CallKind | 'none' {
    const { attributes } = this.#goTo(message, place);
    if ('detail' in attributes) return 'none';
    return this.#kindOf(message, this.#make(message), true) ?? 'none';
  }

  #goTo(message: Buffer, place: number): Resource {
    this.#envelope.seek(place);
    this.#envelope.next();
    return this.#resourceAt(message);
  }

  /** Kind of the call that the envelope's span is. @param isEvent whether it must become an event */
  #kindOf(message: Buffer, outcome: number, isEvent: boolean): CallKind | undefined {
    if (outcome === outcomes.skip) return undefined;
    if (outcome === outcomes.event) return callKinds[this.#maker.callKind(message)];
    const { start, end } = this.#envelope;
    const { attributes } = this.#resource;
    const span = 'detail' in attributes ? attributes : otlpSpan(message, start, end, attributes);
    if ('detail' in span) return undefined;
    return isEvent ? this.#drafts.eventKindOf(span) : this.#drafts.kindOf(span);
  }
}

const noAttributes: Attributes = new Map();
const noIds = { traceId: '', spanId: '', parentSpanId: '' };
