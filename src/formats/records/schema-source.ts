/** A schema of a registry, with every schema that it refers to. */
export interface RegisteredSchema {
  readonly type: 'AVRO' | 'PROTOBUF' | 'JSON';
  readonly text: string;
  /** Those that others refer to come first. */
  readonly references: readonly ReferencedSchema[];
}

export interface ReferencedSchema {
  /** Name by which it is referred to: an Avro name, or the path of an import. */
  readonly name: string;
  readonly text: string;
}

/** An id whose schema cannot be had, however long one waits. */
export interface MissingSchema {
  /** Sentence for the dead letter. */
  readonly missing: string;
}

/** Id of a schema in a registry: a number, or a GUID as text. */
export type SchemaId = number | string;

/** Schemas by their id, which never changes. */
export interface SchemaSource {
  /**
   * Returns the schema, or why there is none; undefined where the id has to be fetched first. Takes no time.
   */
  get(id: SchemaId): RegisteredSchema | MissingSchema | undefined;
  /**
   * Fetches an id, so that `get` knows it. Waits while the registry is away; rejects only when it is closed.
   */
  fetch(id: SchemaId): Promise<void>;
}
