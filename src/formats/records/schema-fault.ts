/** The reason why a schema cannot be used, as half a sentence: `a type must be defined …: "X" is not`. */
export class SchemaFault extends Error {}

/** Formats a name or value of a schema for a message. */
export function shownName(value: unknown): string {
  if (typeof value === 'object' && value !== null)
    return Array.isArray(value) ? 'a list' : 'an object';
  const text = JSON.stringify(value) ?? 'missing';
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
