import { dimensions } from '../../../base/dimensions.ts';
import type { AttributeValue } from '../../span.ts';
import {
  type CallKind,
  callKinds,
  type DurationSource,
  type Mark,
  type Preset,
  textSources,
} from '../presets/preset.ts';
import { AskedNames } from './asked-names.ts';
import type { KnownText } from './span-values.ts';

/** A mark with its attribute as the index of a key. */
export interface CompiledMark {
  /** -1: the mark is the name alone. */
  readonly key: number;
  /** Texts of `values`, and its other values; undefined: any value. */
  readonly texts: readonly KnownText[] | undefined;
  readonly others: readonly AttributeValue[];
  readonly ends: readonly KnownText[] | undefined;
  readonly name: RegExp | undefined;
}

/** Sources of a duration: keys with their units, or the complement of the index of an event's name. */
export interface CompiledDuration {
  readonly sources: Int32Array;
  readonly unitsMs: Float64Array;
}

/** A preset whose names are the indices of `AskedNames`. */
export interface CompiledPreset {
  /** Its place among the presets. */
  readonly index: number;
  readonly knows: readonly (readonly CompiledMark[])[];
  readonly counts: readonly CompiledMark[] | undefined;
  readonly kinds: readonly { readonly kind: CallKind; readonly marks: readonly CompiledMark[] }[];
  readonly texts: Readonly<Record<keyof ReturnType<typeof textSources>, Int32Array>>;
  /** Texts by the index of the dimension. */
  readonly dimensions: readonly Int32Array[];
  readonly inputTokens: Int32Array;
  readonly outputTokens: Int32Array;
  readonly total: CompiledDuration;
  readonly stages: readonly { readonly name: string; readonly duration: CompiledDuration }[];
  /** Indices of the names of events that gaps are between. */
  readonly gaps: Int32Array;
}

/** The tables of presets, compiled to the indices of the names that they ask spans for. */
export class CompiledPresets {
  readonly names = new AskedNames();
  readonly presets: readonly CompiledPreset[];
  /** The team's own dimensions and facets: an attribute of the span of that name, or else of its resource. */
  readonly own: readonly { readonly name: string; readonly sources: Int32Array }[];

  /** @param own names of the own dimensions and facets that are read. */
  constructor(presets: readonly Preset[], own: readonly string[] = []) {
    this.own = own.map((name) => ({
      name,
      sources: this.names.sources([name, `resource:${name}`]),
    }));
    this.presets = presets.map((preset, index) => this.#preset(preset, index));
  }

  #preset(preset: Preset, index: number): CompiledPreset {
    const { names } = this;
    const texts = Object.fromEntries(
      Object.entries(textSources(preset)).map(([field, sources]) => [
        field,
        names.sources(sources),
      ]),
    ) as CompiledPreset['texts'];
    return {
      index,
      // A list that asks for no name costs less.
      knows: preset.knows
        .map((marks) => this.#marks(marks))
        .sort((a, b) => Number(hasName(a)) - Number(hasName(b))),
      counts: preset.counts && this.#marks(preset.counts),
      kinds: callKinds.map((kind) => ({ kind, marks: this.#marks(preset.kinds?.[kind] ?? []) })),
      texts,
      dimensions: dimensions.map((name) => texts[name as keyof typeof texts] ?? new Int32Array(0)),
      inputTokens: names.sources(preset.inputTokens),
      outputTokens: names.sources(preset.outputTokens),
      total: this.#duration(preset.total ?? []),
      stages: Object.entries(preset.stages).map(([name, sources]) => ({
        name,
        duration: this.#duration(sources),
      })),
      gaps: Int32Array.from(preset.gaps ?? [], (name) => names.eventSeries(name)),
    };
  }

  #marks(marks: readonly Mark[]): readonly CompiledMark[] {
    return marks
      .map(({ attribute, values, valueEndsWith, name }) => ({
        key: attribute === undefined ? -1 : this.names.key(attribute),
        texts: values?.filter((value) => typeof value === 'string').map(knownText),
        others: values?.filter((value) => typeof value !== 'string') ?? [],
        ends: valueEndsWith?.map(knownText),
        name,
      }))
      .sort((a, b) => Number(hasName([a])) - Number(hasName([b])));
  }

  #duration(sources: readonly DurationSource[]): CompiledDuration {
    return {
      sources: Int32Array.from(sources, (source) =>
        'event' in source ? ~this.names.event(source.event) : this.names.key(source.attribute),
      ),
      unitsMs: Float64Array.from(sources, (source) => ('event' in source ? 0 : source.unitMs)),
    };
  }
}

const knownText = (text: string): KnownText => ({ text, bytes: Buffer.from(text) });

function hasName(marks: readonly { readonly name: RegExp | undefined }[]): boolean {
  return marks.some(({ name }) => name !== undefined);
}
