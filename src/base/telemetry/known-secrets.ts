/** Shorter ones would tear holes into ordinary words, and are no secrets to speak of. */
const leastCharacters = 6;
/** Tokens rotate: only so many forms of the last ones are kept, six of each. */
const mostForms = 1_536;
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
  /** Hidden from now on: as it is, in JSON, in a URL, in base64, alone or amid others. */
  remember(secret: string): void {
    if (secret.length < leastCharacters) return;
    for (const form of formsOf(secret)) {
      known.delete(form);
      known.add(form);
    }
    for (const oldest of known) {
      if (known.size <= mostForms) break;
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
  const bytes = Buffer.from(secret);
  return new Set([
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    ...[0, 1, 2].map((before) => insideBase64(bytes, before)),
  ]);
}

/** What of a text's base64 is due to these bytes alone, when so many (modulo 3) come before them. */
function insideBase64(bytes: Buffer, before: number): string {
  const whole = Buffer.concat([Buffer.alloc(before), bytes]);
  const base64 = whole.toString('base64');
  return base64.slice(Math.ceil((before * 8) / 6), Math.floor((whole.length * 8) / 6));
}
