import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { messageOf } from '../../../base/failure.ts';
import { OperatorError } from '../../../base/operator-error.ts';
import type { Logger } from '../../../base/telemetry/log.ts';

interface Token {
  readonly name: string;
  /** SHA-256 of the token. */
  readonly digest: Buffer;
}

export interface TokenFileOptions {
  readonly path: string;
  readonly log: Logger;
  readonly elapsedMs: () => number;
}

/** Most tokens of a file: each request is compared with all. */
const maxTokens = 1_000;
/** Time between two looks at the file. */
const lookMs = 1_000;

/**
 * Tokens that may read: a line `NAME SHA256` each, the digest in hexadecimal. The file is read again when it
 * changes, so that a token ends with its line. A change that cannot be read is logged, and the tokens stay.
 */
export class TokenFile {
  readonly #options: TokenFileOptions;
  #tokens: readonly Token[];
  #version: string;
  #lookedMs: number;

  /** @throws OperatorError TAILMARK_CONFIG_INVALID */
  constructor(options: TokenFileOptions) {
    this.#options = options;
    this.#version = versionOf(options.path);
    this.#tokens = parseTokens(readFileSync(options.path, 'utf8'));
    this.#lookedMs = options.elapsedMs();
  }

  /** Name of a token; undefined where there is no such token. */
  nameOf(token: string): string | undefined {
    this.#refresh();
    const digest = createHash('sha256').update(token).digest();
    let found: string | undefined;
    for (const known of this.#tokens) {
      if (timingSafeEqual(known.digest, digest)) found ??= known.name;
    }
    return found;
  }

  #refresh(): void {
    const { path, log, elapsedMs } = this.#options;
    if (elapsedMs() - this.#lookedMs < lookMs) return;
    this.#lookedMs = elapsedMs();
    try {
      const version = versionOf(path);
      if (version === this.#version) return;
      this.#version = version;
      this.#tokens = parseTokens(readFileSync(path, 'utf8'));
      log.info({ tokens: this.#tokens.length }, 'http.auth.tokens_file was read again');
    } catch (error) {
      log.warn({ err: messageOf(error) }, 'http.auth.tokens_file cannot be read again');
    }
  }
}

function versionOf(path: string): string {
  const { mtimeMs, ino, size } = statSync(path);
  return `${mtimeMs} ${ino} ${size}`;
}

/** @throws OperatorError that names the line, and nothing of what stands in it */
function parseTokens(text: string): Token[] {
  const tokens: Token[] = [];
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(#.*)?$/.test(line)) continue;
    const [, name, hex] = /^\s*(\S{1,64})\s+([\da-fA-F]{64})\s*$/.exec(line) ?? [];
    if (name === undefined || hex === undefined) {
      throw new OperatorError(
        'TAILMARK_CONFIG_INVALID',
        `Cannot read http.auth.tokens_file: line ${at + 1} must be a name and a SHA-256 in hexadecimal`,
        { hint: "printf %s TOKEN | sha256sum gives a token's SHA-256." },
      );
    }
    tokens.push({ name, digest: Buffer.from(hex, 'hex') });
  }
  if (tokens.length === 0 || tokens.length > maxTokens) {
    throw new OperatorError(
      'TAILMARK_CONFIG_INVALID',
      `Cannot read http.auth.tokens_file: it must have 1 to ${maxTokens} tokens; it has ${tokens.length}`,
    );
  }
  return tokens;
}
