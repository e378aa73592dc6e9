import { timingSafeEqual } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { messageOf } from '../../../base/failure.ts';
import { OperatorError } from '../../../base/operator-error.ts';
import type { Logger } from '../../../base/telemetry/log.ts';

/** A token, and all that it opens. */
export interface Token {
  readonly name: string;
  /** True where it may change something too: mutes. */
  readonly mayOperate: boolean;
  /** Patterns of the models that it may read; undefined for all. */
  readonly models: readonly string[] | undefined;
}

interface KnownToken extends Token {
  /** SHA-256 of the token. */
  readonly digest: Buffer;
}

export interface TokenFileOptions {
  readonly path: string;
  readonly log: Logger;
  readonly elapsedMs: () => number;
}

/** Name of who has the token of `http.operator_token_file`. */
export const operatorName = 'operator';
/** Most tokens of a file: each request is compared with all. */
const maxTokens = 1_000;
/** Time between two looks at the file. */
const lookMs = 1_000;

/**
 * Tokens that may read: a line `NAME SHA256` each, the digest in hexadecimal, and what else it may do
 * (`operate`), or which models alone it may read (`models=PATTERN,PATTERN`). The file is read again when it
 * changes, so that a token ends with its line. After a change lines with mistakes are logged and count for
 * nothing; of a file that cannot be read, no token counts.
 */
export class TokenFile {
  readonly #options: TokenFileOptions;
  #tokens: readonly KnownToken[];
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

  /** The token of this SHA-256; undefined where there is no such token. */
  tokenOf(digest: Buffer): Token | undefined {
    this.#refresh();
    let found: Token | undefined;
    for (const known of this.#tokens) {
      if (timingSafeEqual(known.digest, digest)) found ??= known;
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
  readonly tokens: readonly KnownToken[];
  readonly problems: readonly OperatorError[];
} {
  const tokens: KnownToken[] = [];
  const problems: OperatorError[] = [];
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(#.*)?$/.test(line)) continue;
    const [, name, hex, rest = ''] =
      /^\s*(\S{1,64})\s+([\da-fA-F]{64})(?:\s+(.*))?$/.exec(line) ?? [];
    const scope = scopeOf(rest.trim());
    if (name === undefined || hex === undefined) {
      const detail = `line ${at + 1} must be a name and a SHA-256 in hexadecimal`;
      problems.push(unreadable(detail, "printf %s TOKEN | sha256sum gives a token's SHA-256."));
    } else if (scope === undefined) {
      const detail = `line ${at + 1} may have operate or models=PATTERN,PATTERN after its SHA-256, and nothing else`;
      problems.push(unreadable(detail, 'For a space in the name of a model, write *.'));
    } else if (name === operatorName) {
      const detail = `line ${at + 1} has the name ${operatorName}, which is that of http.operator_token_file`;
      problems.push(unreadable(detail, 'Give it another name: mutes and logs say who by it.'));
    } else tokens.push({ name, digest: Buffer.from(hex, 'hex'), ...scope });
  }
  if (problems.length === 0 && (tokens.length === 0 || tokens.length > maxTokens)) {
    problems.push(unreadable(`it must have 1 to ${maxTokens} tokens; it has ${tokens.length}`));
  }
  return { tokens: tokens.slice(0, maxTokens), problems };
}

/**
 * The text after a digest, as rights; undefined for what is unknown: a limit with a typing error must not
 * open all.
 */
function scopeOf(text: string): Pick<Token, 'mayOperate' | 'models'> | undefined {
  if (text === '') return { mayOperate: false, models: undefined };
  if (text === 'operate') return { mayOperate: true, models: undefined };
  const models = /^models=(\S+)$/.exec(text)?.[1]?.split(',') ?? [''];
  return models.includes('') ? undefined : { mayOperate: false, models };
}

function unreadable(detail: string, hint?: string): OperatorError {
  const message = `Cannot read http.auth.tokens_file: ${detail}`;
  return new OperatorError('TAILMARK_CONFIG_INVALID', message, hint === undefined ? {} : { hint });
}
