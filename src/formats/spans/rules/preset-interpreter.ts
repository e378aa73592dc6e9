import type { EventDraft, Origin } from '../../format-reader.ts';
import { toNanosecond } from '../../span.ts';
import type { CallKind } from '../presets/preset.ts';
import type {
  CompiledDuration,
  CompiledMark,
  CompiledPreset,
  CompiledPresets,
} from './compiled-presets.ts';
import { orAbsent, SourceValues, valueAt } from './source-values.ts';
import { type SpanEventSink, unendedReject } from './span-events.ts';
import { type SpanValues, valueKinds } from './span-values.ts';
import { weightOf } from './trace-weight.ts';

/** Says what presets make of the span at hand, wherever its values come from. */
export class PresetInterpreter {
  readonly #presets: readonly CompiledPreset[];
  readonly #values: SpanValues;
  readonly #own: CompiledPresets['own'];
  readonly sources: SourceValues;

  constructor({ presets, names, own }: CompiledPresets, values: SpanValues) {
    this.#presets = presets;
    this.#own = own;
    this.#values = values;
    this.sources = new SourceValues(names, values);
  }

  /** Returns the first preset that knows the span; undefined without one, and where it does not count. */
  preset(): CompiledPreset | undefined {
    for (let i = 0; i < this.#presets.length; i++) {
      const preset = this.#presets[i] as CompiledPreset;
      const { knows, counts } = preset;
      for (let j = 0; j < knows.length; j++) {
        if (!this.#hasAll(knows[j] as readonly CompiledMark[])) continue;
        return counts === undefined || this.#hasAny(counts) ? preset : undefined;
      }
    }
    return undefined;
  }

  /** Returns which call the span is by the preset that counts it. */
  kindOf({ kinds }: CompiledPreset): CallKind {
    return kinds.find(({ marks }) => this.#hasAny(marks))?.kind ?? 'generation';
  }

  /** Returns the same where it will be an event by all that it has; undefined where it will be rejected. */
  eventKindOf(
    preset: CompiledPreset,
    finish: (event: EventDraft) => EventDraft,
  ): CallKind | undefined {
    const values = this.#values;
    if (Number.isNaN(values.startMs) || unendedReject(values) !== undefined) return undefined;
    return finish(this.draftOf(preset)).model === undefined ? undefined : this.kindOf(preset);
  }

  /**
   * Hands the span on as what presets make of it: an event, a span without a usable end, or nothing by intent.
   *
   * @param finish says what a format knows better than the presets.
   */
  emit(origin: Origin, sink: SpanEventSink, finish: (event: EventDraft) => EventDraft): void {
    const preset = this.preset();
    const unended = preset && unendedReject(this.#values);
    if (preset === undefined) sink.skip(1);
    else if (unended !== undefined) sink.reject(unended.reason, unended.detail, origin);
    else sink.draft(finish(this.draftOf(preset)), origin);
  }

  draftOf(preset: CompiledPreset): EventDraft {
    const { sources } = this;
    const { startMs, durationMs, traceId, traceState } = this.#values;
    const { texts, total } = preset;
    const stages: Record<string, number> = {};
    for (const { name, duration } of preset.stages) {
      const ms = this.durationOf(duration);
      if (!Number.isNaN(ms)) stages[name] = ms;
    }
    const gaps: number[] = [];
    this.eachGap(preset, (ms) => gaps.push(ms));
    return {
      ts: orAbsent(startMs),
      model: sources.textOf(texts.model),
      version: sources.textOf(texts.version),
      service: sources.textOf(texts.service),
      request_type: sources.textOf(texts.request_type),
      region: sources.textOf(texts.region),
      host: sources.textOf(texts.host),
      tenant: sources.textOf(texts.tenant),
      id: sources.textOf(texts.id),
      trace_id: traceId === '' ? undefined : traceId,
      status: sources.status(),
      weight: weightOf(traceState),
      input_tokens: orAbsent(sources.numberOf(preset.inputTokens)),
      output_tokens: orAbsent(sources.numberOf(preset.outputTokens)),
      total_ms: orAbsent(this.durationOf(total)) ?? orAbsent(durationMs),
      stages_ms: stages,
      itl_ms: gaps.length === 0 ? undefined : gaps,
      ...(this.#own.length > 0 && { attributes: this.#attributes() }),
    };
  }

  #attributes(): Readonly<Record<string, string | undefined>> {
    return Object.fromEntries(
      this.#own.map(({ name, sources }) => [name, this.sources.shownOf(sources)]),
    );
  }

  /** Returns the first of the sources that is there, in milliseconds; NaN without one. */
  durationOf({ sources, unitsMs }: CompiledDuration): number {
    const values = this.#values;
    for (let i = 0; i < sources.length; i++) {
      const source = sources[i] as number;
      if (source < 0) {
        const ms = values.eventMs(~source);
        if (!Number.isNaN(ms)) return ms;
      } else if (values.kindOf(source) === valueKinds.number) {
        return toNanosecond(values.numberOf(source) * (unitsMs[i] as number));
      }
    }
    return Number.NaN;
  }

  /** Hands on the gaps between tokens, by the first of the preset's events that has some. */
  eachGap({ gaps }: CompiledPreset, add: (ms: number) => void): void {
    for (let i = 0; i < gaps.length; i++) {
      if (this.#values.eachGap(gaps[i] as number, add) > 0) return;
    }
  }

  #hasAll(marks: readonly CompiledMark[]): boolean {
    for (let i = 0; i < marks.length; i++) {
      if (!this.#has(marks[i] as CompiledMark)) return false;
    }
    return true;
  }

  #hasAny(marks: readonly CompiledMark[]): boolean {
    for (let i = 0; i < marks.length; i++) {
      if (this.#has(marks[i] as CompiledMark)) return true;
    }
    return false;
  }

  #has({ key, texts, others, ends, name }: CompiledMark): boolean {
    const values = this.#values;
    if (key >= 0) {
      const kind = values.kindOf(key);
      if (kind === valueKinds.none) return false;
      if (kind === valueKinds.text) {
        if (texts !== undefined && !values.isOneOf(key, texts, true)) return false;
        if (ends !== undefined && !values.isOneOf(key, ends, false)) return false;
      } else {
        const value = valueAt(values, key);
        if (texts !== undefined && !others.includes(value as number)) return false;
        if (ends?.some(({ text }) => String(value).endsWith(text)) === false) return false;
      }
    }
    return name === undefined || name.test(values.name);
  }
}
