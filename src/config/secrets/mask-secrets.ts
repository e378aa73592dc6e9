import { propertiesOf, type SchemaNode } from '../input-schema.ts';
import { maskLogin } from './mask-login.ts';

/** Masks a setting's value: every secret, and logins and queries of URLs, become `***`. */
export function maskSecrets(value: unknown, node: SchemaNode): unknown {
  if (value === undefined || value === null || value === '') return value;
  if (node.secret === true) return '***';
  if (typeof value === 'string') return maskLogin(value);
  if (Array.isArray(value)) return value.map((item) => maskSecrets(item, node.items ?? {}));
  if (typeof value !== 'object') return value;
  const properties = propertiesOf(node);
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [key, maskSecrets(child, properties[key] ?? {})]),
  );
}
