import { dimensions } from '../../base/dimensions.ts';
import type { AttributeValue } from '../span.ts';
import {
  callKinds,
  type DurationSource,
  type Mark,
  type Preset,
  partsOf,
  type Source,
  textSources,
} from '../spans/presets/preset.ts';
import { errorType } from '../spans/span-events.ts';

/** A mark with its attribute as the index of a key. */
export interface CompiledMark {
  /** -1: the mark is the name alone. */
  readonly key: number;
  /** Texts of `values` as bytes, and its other values; undefined: any value. */
  readonly texts: readonly Buffer[] | undefined;
  readonly others: readonly AttributeValue[];
  readonly ends: readonly Buffer[] | undefined;
  readonly name: RegExp | undefined;
}

/** Sources of a duration: keys with their units, or the complement of the index of an event's name. */
export interface CompiledDuration {
  readonly sources: Int32Array;
  readonly unitsMs: Float64Array;
}

/**
 * A preset whose names are indices. A source is the index of a key, or the complement of the index of a
 * resource's attribute. From `memberBase` on it is the index of a key whose JSON would have to be read.
 */
export interface CompiledPreset {
  readonly knows: readonly (readonly CompiledMark[])[];
  readonly counts: readonly CompiledMark[] | undefined;
  /** By the index of the kind of call. */
  readonly kinds: readonly (readonly CompiledMark[])[];
  /** By the index of the dimension. */
  readonly dimensions: readonly Int32Array[];
  readonly id: Int32Array;
  readonly inputTokens: Int32Array;
  readonly outputTokens: Int32Array;
  readonly total: CompiledDuration;
  readonly stages: readonly { readonly name: string; readonly duration: CompiledDuration }[];
}

/** Added to the index of a key that is text of a JSON object with the value. */
export const memberBase = 1 << 16;

/** Names without doubles; a name's index is its place. */
class Names {
  readonly list: string[] = [];

  indexOf(name: string): number {
    const index = this.list.indexOf(name);
    return index >= 0 ? index : this.list.push(name) - 1;
  }
}

/** The tables of presets, compiled for spans that are read from bytes: no rule stands anywhere else. */
export class CompiledPresets {
  readonly #keys = new Names();
  readonly #resourceKeys = new Names();
  readonly #eventNames = new Names();
  readonly presets: readonly CompiledPreset[];
  /** Index of the key of an error's type, and of the name of an event with an exception. */
  readonly errorType: number;
  readonly exception: number;

  constructor(presets: readonly Preset[]) {
    this.presets = presets.map((preset) => this.#preset(preset));
    this.errorType = this.#keys.indexOf(errorType);
    this.exception = this.#eventNames.indexOf('exception');
  }

  /** Attributes of a span that rules ask for. */
  get keys(): readonly string[] {
    return this.#keys.list;
  }

  /** Attributes of a resource that rules ask for. */
  get resourceKeys(): readonly string[] {
    return this.#resourceKeys.list;
  }

  /** Names of a span's events that rules ask for. */
  get eventNames(): readonly string[] {
    return this.#eventNames.list;
  }

  #preset(preset: Preset): CompiledPreset {
    const texts: Readonly<Record<string, readonly Source[]>> = textSources(preset);
    return {
      // A list that asks for no name costs less.
      knows: preset.knows
        .map((marks) => this.#marks(marks))
        .sort((a, b) => Number(hasName(a)) - Number(hasName(b))),
      counts: preset.counts && this.#marks(preset.counts),
      kinds: callKinds.map((kind) => this.#marks(preset.kinds?.[kind] ?? [])),
      dimensions: dimensions.map((name) => this.#sources(texts[name] ?? [])),
      id: this.#sources(texts.id ?? []),
      inputTokens: this.#keysOf(preset.inputTokens),
      outputTokens: this.#keysOf(preset.outputTokens),
      total: this.#duration(preset.total ?? []),
      stages: Object.entries(preset.stages).map(([name, sources]) => ({
        name,
        duration: this.#duration(sources),
      })),
    };
  }

  #marks(marks: readonly Mark[]): readonly CompiledMark[] {
    return marks
      .map(({ attribute, values, valueEndsWith, name }) => ({
        key: attribute === undefined ? -1 : this.#keys.indexOf(attribute),
        texts: values
          ?.filter((value) => typeof value === 'string')
          .map((text) => Buffer.from(text)),
        others: values?.filter((value) => typeof value !== 'string') ?? [],
        ends: valueEndsWith?.map((text) => Buffer.from(text)),
        name,
      }))
      .sort((a, b) => Number(hasName([a])) - Number(hasName([b])));
  }

  #keysOf(names: readonly string[]): Int32Array {
    return Int32Array.from(names, (name) => this.#keys.indexOf(name));
  }

  #sources(sources: readonly Source[]): Int32Array {
    return Int32Array.from(sources, (source) => {
      const { isResource, attribute, member } = partsOf(source);
      if (isResource) return ~this.#resourceKeys.indexOf(attribute);
      return this.#keys.indexOf(attribute) + (member === undefined ? 0 : memberBase);
    });
  }

  #duration(sources: readonly DurationSource[]): CompiledDuration {
    return {
      sources: Int32Array.from(sources, (source) =>
        'event' in source
          ? ~this.#eventNames.indexOf(source.event)
          : this.#keys.indexOf(source.attribute),
      ),
      unitsMs: Float64Array.from(sources, (source) => ('event' in source ? 0 : source.unitMs)),
    };
  }
}

function hasName(marks: readonly { readonly name: RegExp | undefined }[]): boolean {
  return marks.some(({ name }) => name !== undefined);
}
