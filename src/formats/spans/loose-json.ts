/** A JSON object of which nothing is known. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Returns the value if it is an object, not a list. */
export function objectOf(value: unknown): JsonObject | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return value as JsonObject;
}

/** Returns the value if it is a list, and an empty one for anything else. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Returns the parsed text, or what is wrong with it. */
export function parsed(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { problem: 'The text must be complete JSON, and is not.' };
  }
}

/**
 * Returns a value as JSON. Where it is nested too deep to be written, only the plain fields of `part` stay, and
 * `null` for the others.
 */
export function jsonBytes(wrap: (part: unknown) => unknown, part: unknown): Buffer {
  try {
    return Buffer.from(JSON.stringify(wrap(part)) ?? 'null');
  } catch {
    const fields = Object.entries(objectOf(part) ?? {});
    const plain = fields.map(([name, value]) => [name, typeof value === 'object' ? null : value]);
    return Buffer.from(JSON.stringify(wrap(Object.fromEntries(plain))));
  }
}
