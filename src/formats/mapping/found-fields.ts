import type { EventDraft } from '../format-reader.ts';
import type { Mapped } from './compile-mapping.ts';
import type { Mapping } from './mapping-schema.ts';

/** Keys that are no field, or without which a record is rejected. */
const others: ReadonlySet<string> = new Set([
  'unwrap',
  'headers',
  'lines',
  'where',
  'start',
  'end',
  'model',
]);

type IsIn = (draft: EventDraft) => boolean;

/**
 * Watches which fields of a mapping its records have. A path that leads nowhere gives an event without the
 * field, which is valid: whoever wrote the mapping must learn of it. Ingest compiles mappings without it.
 */
export class FoundFields {
  readonly #fields = new Map<string, IsIn>();
  readonly #found = new Set<string>();
  #records = 0;

  /** Returns the compiled mapping, watched. */
  watch<Args extends readonly unknown[]>(
    mapping: Mapping,
    map: (...args: Args) => Mapped,
  ): (...args: Args) => Mapped {
    for (const [name, isIn] of fieldsOf(mapping)) this.#fields.set(name, isIn);
    return (...args) => {
      const mapped = map(...args);
      if (mapped !== 'skip' && 'draft' in mapped) this.#add(mapped.draft);
      return mapped;
    };
  }

  /** Says which fields no record had: `total and status were found in none of 20 records`. */
  missing(): string | undefined {
    const names = [...this.#fields.keys()].filter((name) => !this.#found.has(name));
    const last = names.pop();
    if (last === undefined || this.#records === 0) return undefined;
    const list = names.length === 0 ? `${last} was` : `${names.join(', ')} and ${last} were`;
    const records = this.#records === 1 ? 'record' : 'records';
    return `${list} found in none of ${this.#records.toLocaleString('en-US')} ${records}`;
  }

  #add(draft: EventDraft): void {
    this.#records++;
    for (const [name, isIn] of this.#fields) {
      if (!this.#found.has(name) && isIn(draft)) this.#found.add(name);
    }
  }
}

/** Fields of the mapping by their keys, and each stage that it names. */
function fieldsOf(mapping: Mapping): readonly (readonly [name: string, isIn: IsIn])[] {
  return Object.keys(mapping).flatMap((key): readonly (readonly [string, IsIn])[] => {
    if (others.has(key)) return [];
    if (key === 'stages' || key === 'milestones') return stagesOf(mapping, key);
    const field = key === 'total' || key === 'itl' ? `${key}_ms` : key;
    return [[key, (draft) => draft[field] !== undefined]];
  });
}

function stagesOf(
  mapping: Mapping,
  key: 'stages' | 'milestones',
): readonly (readonly [string, IsIn])[] {
  const given = mapping[key];
  const inDraft = (draft: EventDraft) => draft[`${key}_ms`] ?? {};
  if (Array.isArray(given)) {
    return given.map(({ name }) => [
      `${key.slice(0, -1)} ${name}`,
      (draft) => Object.hasOwn(inDraft(draft), name),
    ]);
  }
  return [[key, (draft) => Object.keys(inDraft(draft)).length > 0]];
}
