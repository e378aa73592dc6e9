import type { Serializable, StateArchive } from '../../src/snapshot/archive.ts';

/** Fields of a section, in order: a list or an option with the fields of its items. */
interface Field {
  readonly kind: string;
  readonly inner: Field[];
}

export interface SectionLayout {
  readonly version: number;
  readonly layout: string;
}

/**
 * Records the layout of state: the version of each section, and the kinds of its fields in order. Empty lists
 * and options of one object are filled in from others.
 */
export class LayoutTrace implements StateArchive {
  readonly #sections = new Map<string, { readonly version: number; readonly fields: Field[] }>();
  /** Fields of the current section, and the number of those met. */
  #fields: Field[] = [];
  #at = 0;

  /** Layouts by the section's name. */
  get layouts(): Record<string, SectionLayout> {
    const sections = [...this.#sections].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(
      sections.map(([name, { version, fields }]) => [name, { version, layout: textOf(fields) }]),
    );
  }

  section<T>(name: string, version: number, body: () => T): T {
    this.#meet(name);
    const known = this.#sections.get(name) ?? { version, fields: [] };
    this.#sections.set(name, known);
    return this.#within(known.fields, body);
  }

  number(value: number): number {
    this.#meet('number');
    return value;
  }

  flag(value: boolean): boolean {
    this.#meet('flag');
    return value;
  }

  text(value: string): string {
    this.#meet('text');
    return value;
  }

  numbers(values: ArrayLike<number>): Float64Array {
    this.#meet('numbers');
    return Float64Array.from(values);
  }

  fill(): void {
    this.#meet('fill');
  }

  list<T>(items: Iterable<T>, serialize: (item: T | undefined) => T): T[] {
    const { inner } = this.#meet('list');
    const all = [...items];
    for (const item of all) this.#within(inner, () => serialize(item));
    return all;
  }

  map<T extends Serializable>(items: Map<string, T>): void {
    const { inner } = this.#meet('map');
    for (const item of items.values()) this.#within(inner, () => item.serialize(this));
  }

  optional<T>(value: T | undefined, serialize: (value: T | undefined) => T): T | undefined {
    const { inner } = this.#meet('optional');
    if (value !== undefined) this.#within(inner, () => serialize(value));
    return value;
  }

  #meet(kind: string): Field {
    const known = this.#fields[this.#at];
    if (known !== undefined && known.kind !== kind) {
      throw new Error(`a section has ${known.kind} in one object and ${kind} in another`);
    }
    const field = known ?? { kind, inner: [] };
    this.#fields[this.#at++] = field;
    return field;
  }

  #within<T>(fields: Field[], body: () => T): T {
    const [outer, at] = [this.#fields, this.#at];
    [this.#fields, this.#at] = [fields, 0];
    const result = body();
    [this.#fields, this.#at] = [outer, at];
    return result;
  }
}

function textOf(fields: readonly Field[]): string {
  return fields
    .map(({ kind, inner }) => (inner.length === 0 ? kind : `${kind}(${textOf(inner)})`))
    .join(', ');
}
