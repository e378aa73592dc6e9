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

/** Returns the value of a JSON text; undefined for any other text. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Detail of a text that is not JSON. */
export const notJson = 'The text must be complete JSON, and is not.';

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
