import { readFileSync } from 'node:fs';
import { messageOf } from '../base/failure.ts';
import { knownSecrets } from '../base/telemetry/known-secrets.ts';
import type { Config } from '../config/schema.ts';

/** Configuration of a registry that there is. */
export type RegistryConfig = Config['schema_registry'] & { readonly url: string };

/**
 * Returns the header `authorization` of a request; undefined without a login. A token is read from its file
 * each time, as it may be replaced while the process runs.
 *
 * @throws {Error} with a sentence for the log where the file has no token.
 */
export function authorizationOf(config: RegistryConfig): string | undefined {
  const { username, password = '', token_file } = config;
  if (token_file !== undefined) return `Bearer ${readToken(token_file)}`;
  if (username === undefined) return undefined;
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

function readToken(path: string): string {
  let token: string;
  try {
    token = readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw tokenError(path, (error as NodeJS.ErrnoException).code ?? messageOf(error));
  }
  // A control character would end the header that contains the token.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw tokenError(path, token === '' ? 'it is empty' : 'it contains more than one token');
  }
  knownSecrets.remember(token);
  return token;
}

function tokenError(path: string, why: string): Error {
  return new Error(`schema_registry.token_file must contain one token; it is ${path} (${why})`);
}
