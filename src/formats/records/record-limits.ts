/** Limits of schemas and records. Reaching one rejects the record with a sentence that names the limit. */
export const recordLimits = {
  /** Characters of a schema, and of each schema that it refers to. */
  schemaCharacters: 1024 * 1024,
  /** Nesting of a schema's definitions. */
  schemaDepth: 64,
  /** Schemas that one schema refers to, directly or not. */
  references: 64,
  /** Nesting of a record's values. */
  recordDepth: 64,
  /**
   * Values of a record: for each byte and besides, and of any record. An array of a billion nulls takes six
   * bytes, so the count is checked and not only the length.
   */
  valuesPerByte: 4,
  valuesBeside: 10_000,
  values: 250_000,
  /** Bytes of a decimal number: writing more of them as text takes long. */
  decimalBytes: 64,
} as const;
