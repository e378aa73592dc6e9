import type { TimingEvent } from './timing-event.ts';

/** Texts of an event that it can do without. One that is too long costs the field, not the request. */
export const optionalTexts = [
  'version',
  'request_type',
  'region',
  'service',
  'host',
  'tenant',
  'id',
  'trace_id',
] as const satisfies readonly (keyof TimingEvent)[];

type OptionalText = (typeof optionalTexts)[number];

/** Fields that are counted: with those of `attributes`, of which each value may be too long. */
const countedFields = [...optionalTexts, 'attributes'] as const;

/** Bit of a value of `attributes` that was too long. */
export const longAttributes = 1 << optionalTexts.length;

/** Returns which optional texts the contract has replaced, as they were too long: a bit each. */
export function longTextsOf(given: object, checked: TimingEvent): number {
  let bits = 0;
  for (let i = 0; i < optionalTexts.length; i++) {
    const name = optionalTexts[i] as OptionalText;
    const text = (given as Readonly<Record<string, unknown>>)[name];
    if (typeof text === 'string' && text !== checked[name]) bits |= 1 << i;
  }
  return checked.attributes?.hasLong === true ? bits | longAttributes : bits;
}

/** Numbers of texts that were too long, by field. */
export class LongTexts {
  readonly #counts = new Int32Array(countedFields.length);

  /** @param bits of an event (`DecodedEvent.longTexts`). */
  add(bits: number): void {
    for (let i = 0; i < this.#counts.length; i++) {
      if ((bits & (1 << i)) !== 0) this.#counts[i] = (this.#counts[i] as number) + 1;
    }
  }

  /** Fields with their numbers, those without one left out. */
  list(): { readonly field: (typeof countedFields)[number]; readonly count: number }[] {
    return countedFields.flatMap((field, i) => {
      const count = this.#counts[i] as number;
      return count === 0 ? [] : [{ field, count }];
    });
  }

  /** Returns what is said of them, such as `texts too long: id 2`; undefined where there are none. */
  summary(): string | undefined {
    const list = this.list().map(({ field, count }) => `${field} ${count.toLocaleString('en-US')}`);
    return list.length === 0 ? undefined : `texts too long: ${list.join(', ')}`;
  }
}
