import type {
  MissingSchema,
  RegisteredSchema,
  SchemaId,
} from '../formats/records/schema-source.ts';

/** Limits of what is kept of a registry. Beyond them what was used least lately is forgotten. */
const limits = {
  schemas: 1_000,
  /** Characters of all texts, which are at most twice as many bytes. */
  characters: 32 * 1024 * 1024,
  missing: 1_000,
  /** Time for which an id that the registry does not have is not asked again. */
  missingMs: 60_000,
} as const;

interface Missed {
  readonly value: MissingSchema;
  readonly untilMs: number;
}

/** Schemas by id, and ids without one, both bounded. */
export class SchemaCache {
  readonly #elapsedMs: () => number;
  /** Those used least lately come first. */
  readonly #schemas = new Map<SchemaId, RegisteredSchema>();
  readonly #missing = new Map<SchemaId, Missed>();
  #characters = 0;

  /** @param elapsedMs monotonic time. */
  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs;
  }

  get(id: SchemaId): RegisteredSchema | MissingSchema | undefined {
    const schema = this.#schemas.get(id);
    if (schema !== undefined) {
      this.#schemas.delete(id);
      this.#schemas.set(id, schema);
      return schema;
    }
    const missed = this.#missing.get(id);
    return missed === undefined || missed.untilMs <= this.#elapsedMs() ? undefined : missed.value;
  }

  /** True for an id that was missing when it was asked for, be it long ago. */
  wasMissing(id: SchemaId): boolean {
    return this.#missing.has(id);
  }

  put(id: SchemaId, value: RegisteredSchema | MissingSchema): void {
    if ('missing' in value) {
      this.#missing.delete(id);
      this.#missing.set(id, { value, untilMs: this.#elapsedMs() + limits.missingMs });
      if (this.#missing.size > limits.missing) this.#missing.delete(firstOf(this.#missing));
      return;
    }
    this.#forget(id);
    this.#missing.delete(id);
    this.#schemas.set(id, value);
    this.#characters += sizeOf(value);
    while (this.#schemas.size > 1 && this.#isFull()) this.#forget(firstOf(this.#schemas));
  }

  #isFull(): boolean {
    return this.#schemas.size > limits.schemas || this.#characters > limits.characters;
  }

  #forget(id: SchemaId): void {
    const schema = this.#schemas.get(id);
    if (schema === undefined) return;
    this.#schemas.delete(id);
    this.#characters -= sizeOf(schema);
  }
}

function firstOf(map: ReadonlyMap<SchemaId, unknown>): SchemaId {
  return map.keys().next().value as SchemaId;
}

function sizeOf({ text, references }: RegisteredSchema): number {
  return references.reduce((sum, reference) => sum + reference.text.length, text.length);
}
