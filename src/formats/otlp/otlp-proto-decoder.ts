import { limits } from '../../base/limits.ts';
import type { DecodeSink, EventDecoder } from '../../decode/event-decoder.ts';
import { isReadable } from '../../decode/message/readable-message.ts';
import { readNames } from '../../series/own-attributes.ts';
import type { Attributes } from '../span.ts';
import { OtlpEnvelope, requestOfSpan } from '../spans/otlp-envelope.ts';
import type { CallKind } from '../spans/presets/preset.ts';
import { CompiledPresets } from '../spans/rules/compiled-presets.ts';
import { PresetInterpreter } from '../spans/rules/preset-interpreter.ts';
import type { SpanRules } from '../spans/rules/span-rules.ts';
import type { SpanFault } from '../spans/span-reader.ts';
import { SpanLinks } from '../spans/trace/span-links.ts';
import { BytesCache } from './bytes-cache.ts';
import { EventMaker } from './event-maker.ts';
import { MessageView } from './message-view.ts';
import type { OtlpDecoderOptions } from './otlp-decoder-options.ts';
import { OtlpSpanReader } from './otlp-span-reader.ts';
import { ParentFilter } from './parent-filter.ts';
import { InternedResource } from './resources.ts';
import { SpanDrafts } from './span-drafts.ts';

/** Resources that are kept: hostile ones take some 20 KiB each. */
const MAX_RESOURCES = 1_024;
/** What becomes of a span. `doubt`: the contract decides. `broken`: the span cannot be read. */
type Outcome = 'event' | 'skip' | 'doubt' | 'broken';

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
  readonly #options: OtlpDecoderOptions;
  readonly #envelope = new OtlpEnvelope(limits.eventsPerMessage + 1);
  readonly #view = new MessageView();
  readonly #reader: OtlpSpanReader;
  readonly #interpreter: PresetInterpreter;
  readonly #maker: EventMaker;
  readonly #resources: BytesCache<InternedResource>;
  readonly #drafts: SpanDrafts;
  readonly #links = new SpanLinks();
  readonly #filter = new ParentFilter();
  /** Kinds of calls that are events, by the places of their spans; undefined: not asked yet. */
  readonly #kinds: (CallKind | 'none' | undefined)[] = [];
  #resource: InternedResource;
  #resourceNumber = -1;
  #fallbackCount = 0;
  /** True while a span is handed on; a letter of it then needs its resource and scope. */
  #isInSpan = false;
  #repeatedBytes = 0;

  constructor(options: OtlpDecoderOptions) {
    const compiled = new CompiledPresets(options.presets, readNames(options));
    const { resourceKeys } = compiled.names;
    this.#options = options;
    this.#reader = new OtlpSpanReader(this.#view, compiled.names);
    const { span } = this.#reader;
    this.#interpreter = new PresetInterpreter(compiled, span);
    this.#maker = new EventMaker(compiled, this.#interpreter, span, options);
    this.#resources = new BytesCache((start, end) => {
      const attributes = this.#reader.readResource(start, end);
      return new InternedResource(attributes, resourceKeys, options.maxDimensionBytes);
    }, MAX_RESOURCES);
    this.#resource = new InternedResource(new Map(), resourceKeys, options.maxDimensionBytes);
    this.#drafts = new SpanDrafts(options, this.#interpreter);
  }

  /** Number of spans that the contract decided. */
  get fallbackCount(): number {
    return this.#fallbackCount;
  }

  decode(message: Buffer | null, sink: DecodeSink): number {
    this.#isInSpan = false;
    if (!isReadable(message, this.#options.maxMessageBytes, sink)) return 1;
    const envelope = this.#envelope;
    envelope.begin(message);
    const { problem } = envelope;
    if (problem !== undefined) {
      sink.reject(0, 'invalid_protobuf', problem, 0, message.length);
      return 1;
    }
    this.#repeatedBytes = 0;
    this.#view.begin(message);
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
    const { rules } = this.#options;
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
      const { attributes } = this.#resourceAt();
      if ('detail' in attributes) {
        this.#rejectSpan(attributes);
        continue;
      }
      if (rules !== undefined) {
        this.#byRules(message, rules, attributes);
        continue;
      }
      let outcome = this.#make();
      if (outcome !== 'skip' && isLinked === undefined) {
        isLinked = this.#link(place);
        // Another span may have been read since.
        if (isLinked || outcome !== 'event') outcome = this.#make();
      }
      if (isLinked === true && outcome !== 'skip' && this.#links.hasChildren(place)) {
        outcome = this.#isOuter(place, outcome) ? 'skip' : this.#make();
      }
      if (outcome === 'event') {
        drafts.index++;
        sink.event(this.#maker.event, start, end);
      } else if (outcome === 'skip') drafts.skip(1);
      else if (outcome === 'broken') this.#rejectSpan(this.#reader.fault);
      else {
        this.#fallbackCount++;
        drafts.byPresets({ bytes: () => this.letter(message, start, end) }, start, end);
      }
    }
  }

  #byRules(message: Buffer, rules: SpanRules, resource: Attributes): void {
    const { start, end } = this.#envelope;
    const span = this.#reader.readWhole(start, end, resource);
    const origin = { bytes: () => this.letter(message, start, end) };
    if ('detail' in span) this.#rejectSpan(span);
    else this.#drafts.byRules(span, rules, origin, start, end);
  }

  #rejectSpan({ reason = 'invalid_protobuf', detail }: SpanFault): void {
    this.#drafts.rejectAt(reason, detail, this.#envelope.start, this.#envelope.end);
  }

  /** Resource of the envelope's span. */
  #resourceAt(): InternedResource {
    const { resourceNumber, resourceStart, resourceEnd } = this.#envelope;
    if (this.#resourceNumber !== resourceNumber) {
      this.#resourceNumber = resourceNumber;
      this.#resource = this.#resources.again(this.#view, resourceStart, resourceEnd);
      this.#resource.useIdsOf(this.#options.values);
      this.#reader.span.resource = this.#resource.values;
    }
    return this.#resource;
  }

  /** Makes an event of the envelope's span, whose resource `#resourceAt` has returned. */
  #make(): Outcome {
    const { start, end } = this.#envelope;
    if (!this.#reader.read(start, end)) return 'broken';
    const preset = this.#interpreter.preset();
    if (preset === undefined) return 'skip';
    return this.#maker.make(preset, this.#resource) ? 'event' : 'doubt';
  }

  /**
   * Links the spans of a message. Returns false where none is below another one. Leaves the envelope at
   * `place`.
   */
  #link(place: number): boolean {
    if (this.#envelope.spanCount < 2) return false;
    const isLinked = this.#mayNest() && this.#linkAll();
    this.#goTo(place);
    return isLinked;
  }

  #mayNest(): boolean {
    const envelope = this.#envelope;
    const filter = this.#filter;
    const reader = this.#reader;
    filter.begin();
    envelope.seek(0);
    while (envelope.next()) {
      if (!reader.readIds(envelope.start, envelope.end)) continue;
      filter.add(reader.span.idEnd, reader.span.parentEnd);
    }
    return filter.mayNest();
  }

  #linkAll(): boolean {
    const envelope = this.#envelope;
    const links = this.#links;
    const reader = this.#reader;
    links.begin();
    envelope.seek(0);
    while (envelope.next()) {
      links.addNumbers(reader.readIds(envelope.start, envelope.end) ? reader.span.ids() : noIds);
    }
    this.#kinds.length = 0;
    return links.link();
  }

  /**
   * True if the span at a place is a call around one that counts, see `NestedCalls`. Leaves the envelope
   * there.
   */
  #isOuter(place: number, outcome: Outcome): boolean {
    const kind = this.#kindOf(outcome, false);
    const isAbove = this.#links.isAbove(place, (below) => {
      this.#kinds[below] ??= this.#eventKindAt(below) ?? 'none';
      return this.#kinds[below] === kind;
    });
    this.#goTo(place);
    return isAbove;
  }

  #eventKindAt(place: number): CallKind | undefined {
    const { attributes } = this.#goTo(place);
    return 'detail' in attributes ? undefined : this.#kindOf(this.#make(), true);
  }

  #goTo(place: number): InternedResource {
    this.#envelope.seek(place);
    this.#envelope.next();
    return this.#resourceAt();
  }

  /** Kind of the call that the span is which was read. @param isEvent whether it must become an event */
  #kindOf(outcome: Outcome, isEvent: boolean): CallKind | undefined {
    const preset = outcome === 'broken' ? undefined : this.#interpreter.preset();
    if (preset === undefined) return undefined;
    return isEvent && outcome === 'doubt'
      ? this.#interpreter.eventKindOf(preset, this.#drafts.finish)
      : this.#interpreter.kindOf(preset);
  }
}

const noIds = new Int32Array(8);
