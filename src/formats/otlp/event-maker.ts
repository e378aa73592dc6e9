import { dimensions } from '../../base/dimensions.ts';
import { amountFacets } from '../../base/facets.ts';
import { statuses } from '../../base/statuses.ts';
import { DecodedEvent } from '../../decode/decoded-event.ts';
import type { DecoderOptions } from '../../decode/event-decoder.ts';
import { Interner } from '../../decode/interner.ts';
import { isPlausibleTs } from '../../decode/is-plausible-ts.ts';
import { toNanosecond } from '../span.ts';
import { errorCode, statusOfCause } from '../spans/span-events.ts';
import {
  type CompiledDuration,
  type CompiledMark,
  type CompiledPreset,
  type CompiledPresets,
  memberBase,
} from './compiled-presets.ts';
import type { Resource } from './resources.ts';
import { type SpanScanner, valueKinds } from './span-scanner.ts';

/** Outcomes of a span. `doubt`: the general path decides. */
export const outcomes = { doubt: 0, event: 1, skip: 2 } as const;

const modelIndex = dimensions.indexOf('model');
const inputTokensIndex = amountFacets.indexOf('input_tokens');
const outputTokensIndex = amountFacets.indexOf('output_tokens');
/** Longest id of a trace. */
const MAX_ID_BYTES = 16;
/** U+FFFD in UTF-8, which stands for a byte that is none. */
const REPLACEMENT_BYTES = 3;
const notInterned = -1;

/**
 * Makes an event of a scanned span by the compiled presets, without allocation. It makes plain, valid events
 * only and is otherwise in doubt. So nothing is interned before the whole event is valid.
 */
export class EventMaker {
  readonly #compiled: CompiledPresets;
  readonly #scanner: SpanScanner;
  readonly #options: DecoderOptions;
  readonly event = new DecodedEvent();
  /** Source of each dimension's text. */
  readonly #sources = new Int32Array(dimensions.length);
  /** Interned names of each preset's stages; -1: not yet. */
  readonly #stageIds: readonly Int32Array[];
  #stagesGeneration = -1;
  /** Preset of the last span. */
  #number = -1;

  constructor(compiled: CompiledPresets, scanner: SpanScanner, options: DecoderOptions) {
    this.#compiled = compiled;
    this.#scanner = scanner;
    this.#options = options;
    this.#stageIds = compiled.presets.map(({ stages }) => new Int32Array(stages.length));
    this.event.traceEncoding = 'hex';
  }

  /** Begins a message, and forgets the ids of an interner that was cleared. */
  begin(message: Buffer): void {
    this.event.bytes = message;
    const { generation } = this.#options.stages;
    if (this.#stagesGeneration === generation) return;
    this.#stagesGeneration = generation;
    for (const ids of this.#stageIds) ids.fill(notInterned);
  }

  /** Makes `event` of the scanned span, and says what becomes of it. */
  make(bytes: Buffer, resource: Resource): number {
    const number = this.#presetOf(bytes);
    this.#number = number;
    const preset = this.#compiled.presets[number];
    if (preset === undefined) return outcomes.skip;
    if (preset.counts !== undefined && !this.#hasAny(preset.counts, bytes)) return outcomes.skip;
    const { hasStart, hasEnd, isSampled, times } = this.#scanner;
    const startMs = times[0] as number;
    if (isSampled || !hasStart || !hasEnd || !isPlausibleTs(startMs)) return outcomes.doubt;
    const durationMs = this.#sinceStart(times[2] as number, times[3] as number);
    if (durationMs < 0) return outcomes.doubt;
    this.event.tsMs = startMs;
    const isPlain =
      this.#setStatus(bytes) &&
      this.#setDimensions(preset, bytes, resource) &&
      this.#setIds(preset, bytes, resource) &&
      this.#setTokens(preset) &&
      this.#setDurations(preset, durationMs);
    if (!isPlain) return outcomes.doubt;
    this.#intern(preset, this.#stageIds[number] as Int32Array, bytes, resource);
    return outcomes.event;
  }

  /** Kind of the call that the last span is, by its index. */
  callKind(bytes: Buffer): number {
    const kinds = this.#compiled.presets[this.#number]?.kinds ?? [];
    for (let kind = 0; kind < kinds.length; kind++) {
      if (this.#hasAny(kinds[kind] as readonly CompiledMark[], bytes)) return kind;
    }
    return 0;
  }

  /** Index of the first preset that knows the span, or -1. */
  #presetOf(bytes: Buffer): number {
    const { presets } = this.#compiled;
    for (let i = 0; i < presets.length; i++) {
      const { knows } = presets[i] as CompiledPreset;
      for (let j = 0; j < knows.length; j++) {
        if (this.#hasAll(knows[j] as readonly CompiledMark[], bytes)) return i;
      }
    }
    return -1;
  }

  #hasAll(marks: readonly CompiledMark[], bytes: Buffer): boolean {
    for (let i = 0; i < marks.length; i++) {
      if (!this.#has(marks[i] as CompiledMark, bytes)) return false;
    }
    return true;
  }

  #hasAny(marks: readonly CompiledMark[], bytes: Buffer): boolean {
    for (let i = 0; i < marks.length; i++) {
      if (this.#has(marks[i] as CompiledMark, bytes)) return true;
    }
    return false;
  }

  #has({ key, texts, others, ends, name }: CompiledMark, bytes: Buffer): boolean {
    const scanner = this.#scanner;
    if (key >= 0) {
      const kind = scanner.kindOf(key);
      if (kind === valueKinds.none) return false;
      const start = scanner.starts[key] as number;
      const end = scanner.ends[key] as number;
      if (kind === valueKinds.text) {
        if (texts !== undefined && !isOneOf(texts, bytes, start, end, true)) return false;
        if (ends !== undefined && !isOneOf(ends, bytes, start, end, false)) return false;
      } else {
        const number = scanner.numbers[key] as number;
        const value = kind === valueKinds.bool ? number !== 0 : number;
        if (texts !== undefined && !others.includes(value)) return false;
        if (ends?.some((text) => String(value).endsWith(text.toString())) === false) return false;
      }
    }
    return (
      name === undefined || name.test(bytes.toString('utf8', scanner.nameStart, scanner.nameEnd))
    );
  }

  #setStatus(bytes: Buffer): boolean {
    const scanner = this.#scanner;
    const key = this.#compiled.errorType;
    const kind = scanner.kindOf(key);
    const start = scanner.starts[key] as number;
    const end = scanner.ends[key] as number;
    const isFailed = scanner.statusCode === errorCode;
    if (kind === valueKinds.none || (kind === valueKinds.text && start === end)) {
      this.event.status = isFailed ? statuses.indexOf(statusOfCause('')) : 0;
      return !(isFailed && scanner.hasException);
    }
    if (kind !== valueKinds.text) return false;
    this.event.status = statuses.indexOf(statusOfCause(bytes.toString('utf8', start, end)));
    return true;
  }

  #setDimensions(preset: CompiledPreset, bytes: Buffer, resource: Resource): boolean {
    const { dimensionIds } = this.event;
    for (let i = 0; i < dimensions.length; i++) {
      const source = this.#sourceOf(preset.dimensions[i] as Int32Array, bytes, resource);
      if (source === inDoubt) return false;
      this.#sources[i] = source;
      if (source === absent) dimensionIds[i] = 0;
      else if (source < 0) {
        if (resource.areDoubtful[~source] === true) return false;
        dimensionIds[i] = resource.ids[~source] as number;
      } else {
        const id = this.#idOf(bytes, source);
        // The overflow value itself is not for events.
        if (id === Interner.otherId) return false;
        dimensionIds[i] = id;
      }
    }
    return dimensionIds[modelIndex] !== 0;
  }

  /** First of the sources that has a text; `absent`, or `inDoubt` where only the general path can say. */
  #sourceOf(sources: Int32Array, bytes: Buffer, resource: Resource): number {
    const scanner = this.#scanner;
    for (let i = 0; i < sources.length; i++) {
      const source = sources[i] as number;
      if (source < 0) {
        if (resource.texts[~source] !== undefined) return source;
      } else if (source >= memberBase) {
        if (scanner.kindOf(source - memberBase) === valueKinds.text) return inDoubt;
      } else if (scanner.kindOf(source) === valueKinds.text) {
        const start = scanner.starts[source] as number;
        const end = scanner.ends[source] as number;
        if (start === end) continue;
        return this.#isShort(bytes, start, end) ? source : inDoubt;
      }
    }
    return absent;
  }

  /** True if the text, with what is no UTF-8 replaced, has at most the maximum of bytes. */
  #isShort(bytes: Buffer, start: number, end: number): boolean {
    const { maxDimensionBytes } = this.#options;
    const length = end - start;
    if (length * REPLACEMENT_BYTES <= maxDimensionBytes) return true;
    return length <= maxDimensionBytes && isAscii(bytes, start, end);
  }

  /** Id of a key's text, `notInterned` if it is new, and `otherId` if only the general path can say. */
  #idOf(bytes: Buffer, key: number): number {
    const start = this.#scanner.starts[key] as number;
    const end = this.#scanner.ends[key] as number;
    const id = this.#options.values.find(bytes, start, end);
    // A text that is known is UTF-8.
    return id >= 0 || isAscii(bytes, start, end) ? id : Interner.otherId;
  }

  #setIds(preset: CompiledPreset, bytes: Buffer, resource: Resource): boolean {
    const { event } = this;
    const { traceStart, traceEnd } = this.#scanner;
    const isId = traceEnd - traceStart <= MAX_ID_BYTES && !isZero(bytes, traceStart, traceEnd);
    event.traceStart = isId ? traceStart : 0;
    event.traceEnd = isId ? traceEnd : 0;
    if (2 * (event.traceEnd - event.traceStart) > this.#options.maxDimensionBytes) return false;
    const source = this.#sourceOf(preset.id, bytes, resource);
    if (source !== absent && source < 0) return false;
    event.idStart = source === absent ? 0 : (this.#scanner.starts[source] as number);
    event.idEnd = source === absent ? 0 : (this.#scanner.ends[source] as number);
    return source !== inDoubt;
  }

  #setTokens({ inputTokens, outputTokens }: CompiledPreset): boolean {
    const input = this.#numberOf(inputTokens);
    const output = this.#numberOf(outputTokens);
    // Adding 0 makes -0 a 0.
    this.event.amounts[inputTokensIndex] = input + 0;
    this.event.amounts[outputTokensIndex] = output + 0;
    return !(input < 0 || output < 0);
  }

  /** First of the sources that has a number; NaN without one. */
  #numberOf(sources: Int32Array): number {
    const scanner = this.#scanner;
    for (let i = 0; i < sources.length; i++) {
      const key = sources[i] as number;
      if (scanner.kindOf(key) === valueKinds.number) return scanner.numbers[key] as number;
    }
    return Number.NaN;
  }

  /** Sets the total and all stages; the ids of the stages are the places of their names for now. */
  #setDurations({ total, stages }: CompiledPreset, durationMs: number): boolean {
    const { event } = this;
    const { maxDurationMs } = this.#options;
    const totalMs = this.#durationOf(total);
    event.totalMs = (Number.isNaN(totalMs) ? durationMs : totalMs) + 0;
    if (!(event.totalMs >= 0 && event.totalMs <= maxDurationMs)) return false;
    event.stageCount = 0;
    for (let i = 0; i < stages.length; i++) {
      const ms = this.#durationOf((stages[i] as CompiledPreset['stages'][number]).duration);
      if (Number.isNaN(ms)) continue;
      if (!(ms >= 0 && ms <= maxDurationMs)) return false;
      event.stageIds[event.stageCount] = i;
      event.stageMs[event.stageCount++] = ms + 0;
    }
    return true;
  }

  /** First of the sources that is there, in milliseconds; NaN without one. */
  #durationOf({ sources, unitsMs }: CompiledDuration): number {
    const scanner = this.#scanner;
    for (let i = 0; i < sources.length; i++) {
      const source = sources[i] as number;
      if (source < 0) {
        if (!scanner.hasEvent(~source)) continue;
        const { eventTimes } = scanner;
        const at = ~source * 2;
        return this.#sinceStart(eventTimes[at] as number, eventTimes[at + 1] as number);
      }
      if (scanner.kindOf(source) !== valueKinds.number) continue;
      return toNanosecond((scanner.numbers[source] as number) * (unitsMs[i] as number));
    }
    return Number.NaN;
  }

  #sinceStart(ms: number, ns: number): number {
    const { times } = this.#scanner;
    return toNanosecond(ms - (times[0] as number) + (ns - (times[1] as number)) / 1e6);
  }

  /** Interns what is new, in the order of the general path. */
  #intern(preset: CompiledPreset, stageIds: Int32Array, bytes: Buffer, resource: Resource): void {
    const { event } = this;
    const { values, stages } = this.#options;
    for (let i = 0; i < dimensions.length; i++) {
      if (event.dimensionIds[i] !== notInterned) continue;
      const source = this.#sources[i] as number;
      let id = 0;
      if (source < 0) {
        const text = resource.texts[~source] as Buffer;
        id = values.intern(text, 0, text.length);
        resource.ids[~source] = id;
      } else {
        const start = this.#scanner.starts[source] as number;
        id = values.intern(bytes, start, this.#scanner.ends[source] as number);
      }
      event.dimensionIds[i] = id;
    }
    for (let i = 0; i < event.stageCount; i++) {
      const place = event.stageIds[i] as number;
      if (stageIds[place] === notInterned) {
        const { name } = preset.stages[place] as CompiledPreset['stages'][number];
        stageIds[place] = stages.internText(name);
      }
      event.stageIds[i] = stageIds[place] as number;
    }
  }
}

/** Results of a look for a source, other than its number. */
const absent = 1 << 20;
const inDoubt = absent + 1;

/** True if the text equals one of the texts, or ends with one. */
function isOneOf(
  texts: readonly Buffer[],
  bytes: Buffer,
  start: number,
  end: number,
  isWhole: boolean,
): boolean {
  for (let i = 0; i < texts.length; i++) {
    const text = texts[i] as Buffer;
    const from = end - text.length;
    if (isWhole ? from !== start : from < start) continue;
    let at = 0;
    while (at < text.length && text[at] === bytes[from + at]) at++;
    if (at === text.length) return true;
  }
  return false;
}

function isAscii(bytes: Buffer, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if ((bytes[i] as number) >= 0x80) return false;
  return true;
}

function isZero(bytes: Buffer, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (bytes[i] !== 0) return false;
  return true;
}
