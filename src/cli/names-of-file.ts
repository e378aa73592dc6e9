import { isAttributeName } from '../base/dimensions.ts';
import { attributeOf } from '../series/attributes.ts';
import type { Series } from '../series/series-window.ts';
import type { UnknownOne } from '../series/unknown-name.ts';

/** Names in the events of a file, by model, for who wrote another one. */
export class NamesOfFile {
  readonly #values = new Map<string, Set<string>>();

  add(series: Series, stage?: string): void {
    const { model, version, region, request_type, attributes = '' } = series;
    this.#add('model', '', model);
    const values = { version, region, request_type, stage, attributes };
    for (const [thing, value] of Object.entries(values)) {
      if (value === undefined) continue;
      this.#add(thing, model, value);
      this.#add(thing, '', value);
    }
  }

  readonly valuesOf = async (
    thing: UnknownOne['thing'],
    model: string,
  ): Promise<readonly string[]> => {
    if (!isAttributeName(thing)) return this.#of(thing, model);
    const texts = this.#of('attributes', model);
    return [...new Set(texts.map((text) => attributeOf(text, thing)))];
  };

  #of(thing: string, model: string): readonly string[] {
    return [...(this.#values.get(`${thing} ${model}`) ?? [])];
  }

  #add(thing: string, model: string, value: string): void {
    const key = `${thing} ${model}`;
    const known = this.#values.get(key) ?? new Set();
    this.#values.set(key, known.add(value));
  }
}
