import { dimensions } from '../../base/dimensions.ts';
import { amountFacets } from '../../base/facets.ts';
import { limits } from '../../base/limits.ts';
import { statuses } from '../../base/statuses.ts';
import { DecodedEvent } from '../../decode/decoded-event.ts';
import type { DecoderOptions } from '../../decode/event-decoder.ts';
import { Interner } from '../../decode/interner.ts';
import { isPlausibleTs } from '../../decode/is-plausible-ts.ts';
import { spanName } from '../spans/rules/asked-names.ts';
import type { CompiledPreset, CompiledPresets } from '../spans/rules/compiled-presets.ts';
import type { PresetInterpreter } from '../spans/rules/preset-interpreter.ts';
import { absent } from '../spans/rules/source-values.ts';
import { weightOf } from '../spans/rules/trace-weight.ts';
import { isZero, type OtlpSpan } from './otlp-span.ts';
import type { InternedResource } from './resources.ts';

const modelIndex = dimensions.indexOf('model');
const inputTokensIndex = amountFacets.indexOf('input_tokens');
const outputTokensIndex = amountFacets.indexOf('output_tokens');
/** Longest id of a trace. */
const MAX_ID_BYTES = 16;
/** U+FFFD in UTF-8, which stands for a byte that is none. */
const REPLACEMENT_BYTES = 3;
const notInterned = -1;

/**
 * Makes the event of a span that was read, by the preset that counts it, without allocation. It makes plain,
 * valid events only. So nothing is interned before the whole event is valid.
 */
export class EventMaker {
  readonly #interpreter: PresetInterpreter;
  readonly #span: OtlpSpan;
  readonly #options: DecoderOptions;
  readonly event = new DecodedEvent();
  #bytes: Buffer = Buffer.alloc(0);
  /** Source of each dimension's text. */
  readonly #sources = new Int32Array(dimensions.length);
  /** Interned names of each preset's stages; -1: not yet. */
  readonly #stageIds: readonly Int32Array[];
  #stagesGeneration = -1;
  readonly #hasOwn: boolean;
  readonly #addGap = (ms: number) => this.event.addGap(ms);

  constructor(
    { presets, own }: CompiledPresets,
    interpreter: PresetInterpreter,
    span: OtlpSpan,
    options: DecoderOptions,
  ) {
    this.#interpreter = interpreter;
    this.#span = span;
    this.#options = options;
    this.#stageIds = presets.map(({ stages }) => new Int32Array(stages.length));
    this.#hasOwn = own.length > 0;
    this.event.traceEncoding = 'hex';
  }

  /** Begins a message, and forgets the ids of an interner that was cleared. */
  begin(message: Buffer): void {
    this.#bytes = message;
    this.event.bytes = message;
    const { generation } = this.#options.stages;
    if (this.#stagesGeneration === generation) return;
    this.#stagesGeneration = generation;
    for (const ids of this.#stageIds) ids.fill(notInterned);
  }

  /** Makes `event` of the span. Returns false for one that the contract has to judge. */
  make(preset: CompiledPreset, resource: InternedResource): boolean {
    // Own dimensions are the contract's.
    if (this.#hasOwn) return false;
    const { event } = this;
    const span = this.#span;
    const { startMs, durationMs } = span;
    if (!isPlausibleTs(startMs) || !(durationMs >= 0)) return false;
    event.tsMs = startMs;
    event.status = statuses.indexOf(this.#interpreter.sources.status());
    event.weight = weightOf(span.traceState) ?? 1;
    const isPlain =
      this.#setDimensions(preset, resource) &&
      this.#setIds(preset) &&
      this.#setTokens(preset) &&
      this.#setDurations(preset, durationMs) &&
      this.#setGaps(preset);
    if (isPlain) this.#intern(preset, resource);
    return isPlain;
  }

  #setDimensions(preset: CompiledPreset, resource: InternedResource): boolean {
    const { dimensionIds } = this.event;
    const { sources } = this.#interpreter;
    for (let i = 0; i < dimensions.length; i++) {
      const source = sources.withText(preset.dimensions[i] as Int32Array);
      this.#sources[i] = source;
      if (source === absent) dimensionIds[i] = 0;
      else if (source < 0) {
        if (resource.areDoubtful[~source] === true) return false;
        dimensionIds[i] = resource.ids[~source] as number;
      } else {
        if (source >= spanName || !this.#isShort(source)) return false;
        const id = this.#idOf(source);
        // The overflow value itself is not for events.
        if (id === Interner.otherId) return false;
        dimensionIds[i] = id;
      }
    }
    return dimensionIds[modelIndex] !== 0;
  }

  /** True if the text, with what is no UTF-8 replaced, has at most the maximum of bytes. */
  #isShort(key: number): boolean {
    const { maxDimensionBytes } = this.#options;
    const start = this.#span.starts[key] as number;
    const end = this.#span.ends[key] as number;
    if ((end - start) * REPLACEMENT_BYTES <= maxDimensionBytes) return true;
    return end - start <= maxDimensionBytes && isAscii(this.#bytes, start, end);
  }

  /** Id of a key's text, `notInterned` if it is new, and `otherId` if only the contract can say. */
  #idOf(key: number): number {
    const start = this.#span.starts[key] as number;
    const end = this.#span.ends[key] as number;
    const id = this.#options.values.find(this.#bytes, start, end);
    // A text that is known is UTF-8.
    return id >= 0 || isAscii(this.#bytes, start, end) ? id : Interner.otherId;
  }

  #setIds({ texts }: CompiledPreset): boolean {
    const { event } = this;
    const { traceStart, traceEnd, starts, ends } = this.#span;
    const isId =
      traceEnd - traceStart <= MAX_ID_BYTES && !isZero(this.#bytes, traceStart, traceEnd);
    event.traceStart = isId ? traceStart : 0;
    event.traceEnd = isId ? traceEnd : 0;
    if (2 * (event.traceEnd - event.traceStart) > this.#options.maxDimensionBytes) return false;
    const source = this.#interpreter.sources.withText(texts.id);
    const isNone = source === absent;
    event.idStart = isNone ? 0 : (starts[source] as number);
    event.idEnd = isNone ? 0 : (ends[source] as number);
    return isNone || (source >= 0 && source < spanName && this.#isShort(source));
  }

  #setTokens({ inputTokens, outputTokens }: CompiledPreset): boolean {
    const { sources } = this.#interpreter;
    const input = sources.numberOf(inputTokens);
    const output = sources.numberOf(outputTokens);
    // Adding 0 makes -0 a 0.
    this.event.amounts[inputTokensIndex] = input + 0;
    this.event.amounts[outputTokensIndex] = output + 0;
    return !(input < 0 || output < 0);
  }

  /** Sets the total and all stages; the ids of the stages are the places of their names for now. */
  #setDurations({ total, stages }: CompiledPreset, durationMs: number): boolean {
    const { event } = this;
    const { maxDurationMs } = this.#options;
    const totalMs = this.#interpreter.durationOf(total);
    event.totalMs = (Number.isNaN(totalMs) ? durationMs : totalMs) + 0;
    if (!(event.totalMs >= 0 && event.totalMs <= maxDurationMs)) return false;
    event.stageCount = 0;
    for (let i = 0; i < stages.length; i++) {
      const { duration } = stages[i] as CompiledPreset['stages'][number];
      const ms = this.#interpreter.durationOf(duration);
      if (Number.isNaN(ms)) continue;
      if (!(ms >= 0 && ms <= maxDurationMs)) return false;
      event.stageIds[event.stageCount] = i;
      event.stageMs[event.stageCount++] = ms + 0;
    }
    return true;
  }

  #setGaps(preset: CompiledPreset): boolean {
    const { event } = this;
    event.gapCount = 0;
    if (preset.gaps.length === 0) return true;
    this.#interpreter.eachGap(preset, this.#addGap);
    if (event.gapCount > limits.gapsPerEvent) return false;
    const { maxDurationMs } = this.#options;
    for (let i = 0; i < event.gapCount; i++) {
      if (!((event.gapsMs[i] as number) <= maxDurationMs)) return false;
    }
    return true;
  }

  /** Interns what is new, in the order of the contract. */
  #intern({ index, stages: named }: CompiledPreset, resource: InternedResource): void {
    const { event } = this;
    const { values, stages } = this.#options;
    const stageIds = this.#stageIds[index] as Int32Array;
    for (let i = 0; i < dimensions.length; i++) {
      if (event.dimensionIds[i] !== notInterned) continue;
      const source = this.#sources[i] as number;
      let id = 0;
      if (source < 0) {
        const text = resource.texts[~source] as Buffer;
        id = values.intern(text, 0, text.length);
        resource.ids[~source] = id;
      } else {
        const { starts, ends } = this.#span;
        id = values.intern(this.#bytes, starts[source] as number, ends[source] as number);
      }
      event.dimensionIds[i] = id;
    }
    for (let i = 0; i < event.stageCount; i++) {
      const place = event.stageIds[i] as number;
      if (stageIds[place] === notInterned) {
        const { name } = named[place] as CompiledPreset['stages'][number];
        stageIds[place] = stages.internText(name);
      }
      event.stageIds[i] = stageIds[place] as number;
    }
  }
}

function isAscii(bytes: Buffer, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if ((bytes[i] as number) >= 0x80) return false;
  return true;
}
