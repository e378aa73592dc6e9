import { addNeedles, bytesOf, type Needles, type Span, spansIn } from './secret-spellings.ts';

/** Minimum length: shorter secrets would mask parts of ordinary words. */
const minCharacters = 6;
/** Maximum number of secrets: tokens rotate. */
const maxSecrets = 256;
/** Characters of the longest spelling of a byte: `\\u002f`, `&#x2f;`. */
const maxSpelled = 6;
const mask = '***';

/** Oldest first. */
const known = new Set<string>();
let needles: Needles = new Map();

/**
 * Secrets of this process, masked in all output: servers quote what they refuse. Code that reads a secret
 * remembers it here; code that writes for people (results, errors, logs, HTTP) hides them.
 */
export const knownSecrets = {
  /** Hides a secret from now on, in any spelling of `secret-spellings.ts`, alone or amid other text. */
  remember(secret: string): void {
    if (!isLong(secret)) return;
    const isNew = !known.delete(secret);
    known.add(secret);
    for (const oldest of known) {
      if (known.size <= maxSecrets) break;
      known.delete(oldest);
    }
    if (isNew) needles = needlesOf(known);
  },
  /**
   * Replaces every secret in a text by `***`. Costs some ten scans of the text for each secret: 2 ms for ten
   * secrets and 100 KB.
   *
   * @param also secrets of this text alone: parts of an address, which elsewhere are ordinary words.
   */
  hide(text: string, also: readonly string[] = []): string {
    const all = also.length === 0 ? needles : needlesOf([...known, ...also.filter(isLong)]);
    if (all.size === 0) return text;
    const bytes = bytesOf(text);
    const spans = spansIn(bytes, all);
    return spans.length === 0 ? text : Buffer.from(masked(bytes, spans), 'latin1').toString();
  },
  /** The start of a text that was cut, without the part that may be the start of a secret. */
  hideInCut(text: string): string {
    const longest = Math.max(0, ...[...known].map((secret) => Buffer.byteLength(secret)));
    const hidden = this.hide(text);
    return hidden.slice(0, Math.max(0, hidden.length - maxSpelled * longest));
  },
};

const isLong = (secret: string) => secret.length >= minCharacters;

function needlesOf(secrets: Iterable<string>): Needles {
  const made = new Map();
  for (const secret of secrets) addNeedles(made, secret);
  return made;
}

function masked(text: string, spans: readonly Span[]): string {
  const parts: string[] = [];
  let shown = 0;
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start)) {
    if (start >= shown) parts.push(text.slice(shown, start), mask);
    shown = Math.max(shown, end);
  }
  return parts.join('') + text.slice(shown);
}
