import { formatCount } from '../../contract/format.ts';

/** Formats `7 were`, `1 was`; what is less than one is `fewer than 1 was`. */
export function expectedCount(n: number): string {
  if (n < 0.5) return 'fewer than 1 was';
  const rounded = Math.round(n);
  return `${formatCount(rounded)} ${rounded === 1 ? 'was' : 'were'}`;
}

/** Formats `1 in 340 million`; beyond a trillion a power of ten. */
export function odds(p: number): string {
  if (p === 0) return 'nil';
  const times = 1 / p;
  if (times < 1e6) return `1 in ${rounded(times)}`;
  if (times >= 1e15) return `1 in 10^${Math.floor(Math.log10(times))}`;
  const [name, unit] =
    times < 1e9 ? ['million', 1e6] : times < 1e12 ? ['billion', 1e9] : ['trillion', 1e12];
  return `1 in ${rounded(times / Number(unit))} ${name}`;
}

/** Formats `2026-11-01 12:00:00Z`. */
export function clock(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)}Z`;
}

/** Escapes control characters, which may come from events, so that they cannot move the cursor. */
export function visible(text: string): string {
  return text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not get through.
    /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Formats `1,230`: three significant digits. */
function rounded(n: number): string {
  return Number(n.toPrecision(3)).toLocaleString('en-US');
}
