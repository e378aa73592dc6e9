import { knownSecrets } from '../../../src/base/telemetry/known-secrets.ts';
import { spellings } from './spellings.ts';

/** Characters of base64 that hold bits of a neighbour too. */
const maxOfBase64 = 2;
/** Characters that part the bytes of a list or dump, or the characters of a text: some stay at its ends. */
const maxBetween = 5;

/**
 * Hides a secret that a server quotes amid other text; says what is wrong with the result, undefined when
 * nothing is. All that the secret adds to the spelled text must be `***`.
 */
export function faultOf(name: string, before: string, secret: string, after: string) {
  const spell = spellings[name] ?? String;
  const text = spell(before + secret + after);
  const shown = knownSecrets.hide(text);
  const left = commonStart(text, shown);
  const right = commonStart(reversed(text.slice(left)), reversed(shown.slice(left)));
  const hidden = text.length - left - right;
  const added = text.length - spell(before + after).length;
  const bytes = Buffer.byteLength(secret, name.endsWith('UTF-16') ? 'utf16le' : 'utf8');
  const least = name.startsWith('base64')
    ? Math.floor((bytes * 4) / 3) - maxOfBase64
    : added - (/list|hex|parted/.test(name) ? maxBetween : 0);
  const isMasked = shown.slice(left, shown.length - right) === '***';
  return isMasked && hidden >= least ? undefined : { name, secret, text, shown };
}

const reversed = (text: string) => text.split('').reverse().join('');

function commonStart(a: string, b: string): number {
  let length = 0;
  while (length < b.length && a[length] === b[length]) length++;
  return length;
}
