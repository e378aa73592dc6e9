import { knownSecrets } from '../../base/telemetry/known-secrets.ts';
import { leavesOf } from '../input-schema.ts';

/** Parts of an address at least this long may be a token. */
const leastTokenCharacters = 12;

/** Masks every secret of a configuration in all later output of this process. */
export function rememberSecrets(config: unknown): void {
  for (const { value, node } of leavesOf(config)) {
    if (typeof value !== 'string' && typeof value !== 'number') continue;
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
