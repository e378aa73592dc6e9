import type { Attributes, AttributeValue } from '../span.ts';

/** Returns the attributes of names and plain values, without those whose value is a list or an object. */
export function plainAttributes(entries: Iterable<readonly [unknown, unknown]>): Attributes {
  const attributes = new Map<string, AttributeValue>();
  for (const [name, value] of entries) {
    if (typeof name !== 'string') continue;
    if (typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) {
      attributes.set(name, value as AttributeValue);
    }
  }
  return attributes;
}
