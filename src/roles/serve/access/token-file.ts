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
 * changes, so that a token ends with its line. After a change lines with mistakes are logged and count for nothing;
 * of a file that cannot be read, no token counts.
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
    const { tokens, problems } = parseTokens(readFileSync(options.path, 'utf8'));
    const [problem] = problems;
    if (problem !== undefined) throw problem;
    this.#tokens = tokens;
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
      const { tokens, problems } = parseTokens(readFileSync(path, 'utf8'));
      this.#tokens = tokens;
      log.info({ tokens: tokens.length }, 'http.auth.tokens_file was read again');
      for (const problem of problems) log.error({ err: problem.message }, mistaken);
    } catch (error) {
      if (this.#version === '') return;
      this.#version = '';
      this.#tokens = [];
      log.error({ err: messageOf(error) }, 'http.auth.tokens_file cannot be read: no token counts');
    }
  }
}

function versionOf(path: string): string {
  const { mtimeMs, ino, size } = statSync(path);
  return `${mtimeMs} ${ino} ${size}`;
}

const mistaken = 'http.auth.tokens_file has a mistake: the other tokens count';

/** Tokens of the lines that have one, and mistakes, which name a line and nothing of what stands in it. */
function parseTokens(text: string): {
  readonly tokens: readonly Token[];
  readonly problems: readonly OperatorError[];
} {
  const tokens: Token[] = [];
  const problems: OperatorError[] = [];
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(#.*)?$/.test(line)) continue;
    const [, name, hex] = /^\s*(\S{1,64})\s+([\da-fA-F]{64})\s*$/.exec(line) ?? [];
    if (name !== undefined && hex !== undefined) {
      tokens.push({ name, digest: Buffer.from(hex, 'hex') });
      continue;
    }
    const detail = `line ${at + 1} must be a name and a SHA-256 in hexadecimal`;
    problems.push(unreadable(detail, "printf %s TOKEN | sha256sum gives a token's SHA-256."));
  }
  if (problems.length === 0 && (tokens.length === 0 || tokens.length > maxTokens)) {
    problems.push(unreadable(`it must have 1 to ${maxTokens} tokens; it has ${tokens.length}`));
  }
  return { tokens: tokens.slice(0, maxTokens), problems };
}

function unreadable(detail: string, hint?: string): OperatorError {
  const message = `Cannot read http.auth.tokens_file: ${detail}`;
  return new OperatorError('TAILMARK_CONFIG_INVALID', message, hint === undefined ? {} : { hint });
}
