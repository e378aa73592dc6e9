import { nodeAt, propertiesOf, type SchemaNode } from './input-schema.ts';
import { maskLogin } from './secrets/mask-login.ts';

const longest = 80;

/** Formats a value for messages: one short line, secrets masked. */
export function showValue(value: unknown, path: readonly PropertyKey[]): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'empty';
  if (Array.isArray(value)) {
    return value.some((item) => typeof item === 'object')
      ? 'a list'
      : `[${value.map((item, i) => showValue(item, [...path, i])).join(', ')}]`;
  }
  if (typeof value === 'object') return 'a map';
  const node = nodeAt(path);
  if (node === undefined || holdsSecret(node)) return '(hidden)';
  if (typeof value !== 'string') return String(value);
  const text = JSON.stringify(maskLogin(value));
  return text.length > longest ? `${text.slice(0, longest)}…"` : text;
}

function holdsSecret(node: SchemaNode): boolean {
  if (node.secret === true) return true;
  if (node.items !== undefined) return holdsSecret(node.items);
  return Object.values(propertiesOf(node)).some(holdsSecret);
}
