import { propertiesFor, type SchemaNode } from '../input-schema.ts';

/** Masks a setting's value: every secret, and logins and queries of URLs, become `***`. */
export function maskSecrets(value: unknown, node: SchemaNode): unknown {
  if (value === undefined || value === null || value === '') return value;
  if (node.secret === true) return '***';
  if (typeof value === 'string') return maskText(value, node);
  if (Array.isArray(value)) return value.map((item) => maskSecrets(item, node.items ?? {}));
  if (typeof value !== 'object') return value;
  const properties = propertiesFor(node, value);
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [key, maskSecrets(child, properties[key] ?? {})]),
  );
}

/** Masks a text for display. A mail address or a user name with a colon before its @ may be a login. */
export function maskText(text: string, node: SchemaNode): string {
  return node.holdsNoLogin === true && !/[:/].*@/s.test(text) ? text : maskLogin(text);
}

/** Masks a value for display: a login in it, and the query of a URL, become `***`. */
export function maskLogin(text: string): string {
  const scheme = /^[a-z][a-z0-9+._-]*:\/\//i.exec(text)?.[0] ?? '';
  const shown = scheme === '' ? text : text.replace(/\?[^\s]*$/, '?***');
  const at = shown.lastIndexOf('@');
  if (at < 0 || isPlainUrl(shown)) return shown;
  // A password may hold any character, including those that end the address in a valid URL.
  return `${scheme}***@${shown.slice(at + 1)}`;
}

function isPlainUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, password, host } = new URL(text);
  return host !== '' && username === '' && password === '';
}
