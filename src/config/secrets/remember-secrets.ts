import { knownSecrets } from '../../base/telemetry/known-secrets.ts';
import { inputSchema, propertiesOf, type SchemaNode } from '../input-schema.ts';

/** Parts of an address at least this long may be a token. */
const leastTokenCharacters = 12;

/** Masks every secret of a configuration in all later output of this process. */
export function rememberSecrets(value: unknown, node: SchemaNode = inputSchema()): void {
  if (Array.isArray(value)) {
    for (const item of value) rememberSecrets(item, node.items);
  } else if (typeof value === 'object' && value !== null) {
    const properties = propertiesOf(node);
    for (const [name, child] of Object.entries(value)) {
      if (Object.hasOwn(properties, name)) rememberSecrets(child, properties[name]);
    }
  } else if (typeof value === 'string' || typeof value === 'number') {
    const text = String(value);
    if (node.secret === true) knownSecrets.remember(text);
    if (URL.canParse(text)) rememberAddress(new URL(text), node.secret === true);
  }
}

/** Registers the login of a URL; of a secret URL, every possible token. */
function rememberAddress(url: URL, isSecret: boolean): void {
  const tokens = [url.password, ...[...url.searchParams.values()].filter(isLong)];
  if (isSecret) {
    tokens.push(...url.pathname.split('/').filter(isLong));
    if (isLong(url.pathname)) tokens.push(`${url.pathname}${url.search}`);
  }
  for (const token of tokens) {
    knownSecrets.remember(token);
    knownSecrets.remember(decoded(token));
  }
}

function isLong(text: string): boolean {
  return text.length >= leastTokenCharacters;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
