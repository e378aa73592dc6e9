/** Shorter ones would tear holes into ordinary words, and are no secrets to speak of. */
const leastCharacters = 6;
/** Tokens rotate: only so many of the last ones can still be heard of. */
const mostSecrets = 256;
const mask = '***';

/** Every way in which a secret may stand in a text, oldest first. */
const known = new Set<string>();
let longestFirst: readonly string[] = [];

/**
 * The secrets that this process was given, so that no output shows one, whoever put it there:
 * servers quote what they refuse. One set per process, as its outputs are; whatever reads a secret
 * remembers it here, and whatever writes for people (results, errors, logs, HTTP) hides them.
 */
export const knownSecrets = {
  /** Hidden from now on: as it is, in JSON, in a URL, in base64. */
  remember(secret: string): void {
    if (secret.length < leastCharacters) return;
    for (const form of formsOf(secret)) {
      known.delete(form);
      known.add(form);
    }
    for (const oldest of known) {
      if (known.size <= mostSecrets) break;
      known.delete(oldest);
    }
    longestFirst = [...known].sort((a, b) => b.length - a.length);
  },
  /** The text with `***` for every secret in it. Costs one scan of the text per secret. */
  hide(text: string): string {
    let shown = text;
    for (const secret of longestFirst) {
      if (shown.includes(secret)) shown = shown.replaceAll(secret, mask);
    }
    return shown;
  },
};

function formsOf(secret: string): Set<string> {
  const base64 = Buffer.from(secret).toString('base64');
  return new Set([
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    base64,
    base64.replace(/=+$/, ''),
  ]);
}
