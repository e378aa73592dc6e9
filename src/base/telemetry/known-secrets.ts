/** Minimum length: shorter secrets would mask parts of ordinary words. */
const minCharacters = 6;
/** Maximum number of forms, six of each secret: tokens rotate. */
const maxForms = 1_536;
const mask = '***';

/** Forms in which a secret may occur in a text, oldest first. */
const known = new Set<string>();
let longestFirst: readonly string[] = [];

/**
 * Secrets of this process, masked in all output: servers quote what they refuse. Code that reads a secret
 * remembers it here; code that writes for people (results, errors, logs, HTTP) hides them.
 */
export const knownSecrets = {
  /** Hides a secret from now on: plain, in JSON, in a URL, or in base64, alone or amid other text. */
  remember(secret: string): void {
    if (secret.length < minCharacters) return;
    for (const form of formsOf(secret)) {
      known.delete(form);
      known.add(form);
    }
    for (const oldest of known) {
      if (known.size <= maxForms) break;
      known.delete(oldest);
    }
    longestFirst = [...known].sort((a, b) => b.length - a.length);
  },
  /** Replaces every secret in a text by `***`. Costs one scan of the text per secret. */
  hide(text: string): string {
    let masked = text;
    for (const secret of longestFirst) {
      if (masked.includes(secret)) masked = masked.replaceAll(secret, mask);
    }
    return masked;
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

/** Base64 characters that depend on these bytes alone, after `before` (modulo 3) other bytes. */
function insideBase64(bytes: Buffer, before: number): string {
  const whole = Buffer.concat([Buffer.alloc(before), bytes]);
  const base64 = whole.toString('base64');
  return base64.slice(Math.ceil((before * 8) / 6), Math.floor((whole.length * 8) / 6));
}
