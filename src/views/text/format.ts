/** Formats milliseconds for people: `840 µs`, `12.4 ms`, `1.24 s`, `3.1 min`. */
export function formatMs(ms: number): string {
  if (!Number.isFinite(ms)) return '–';
  if (ms < 1) return `${Math.round(ms * 1000)} µs`;
  if (ms < 1000) return `${significant(ms)} ms`;
  if (ms < 120_000) return `${significant(ms / 1000)} s`;
  return `${significant(ms / 60_000)} min`;
}

/** Formats three significant digits, without exponent. */
function significant(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toPrecision(3);
}

/** Formats `1,230`: three significant digits. */
export function count(n: number): string {
  return Number(n.toPrecision(3)).toLocaleString('en-US');
}

/** Formats `12,345`: as many as were counted. */
export function wholeCount(n: number): string {
  return Math.round(n).toLocaleString('en-US');
}

/** Formats `7 were`, `1 was`; what is less than one is `fewer than 1 was`. */
export function expectedCount(n: number): string {
  if (n < 0.5) return 'fewer than 1 was';
  const rounded = Math.round(n);
  return `${wholeCount(rounded)} ${rounded === 1 ? 'was' : 'were'}`;
}

/** Formats `1 in 340 million`; beyond a trillion a power of ten. */
export function odds(p: number): string {
  if (p === 0) return 'nil';
  const times = 1 / p;
  if (times < 1e6) return `1 in ${count(times)}`;
  if (times >= 1e15) return `1 in 10^${Math.floor(Math.log10(times))}`;
  const [name, unit] =
    times < 1e9 ? ['million', 1e6] : times < 1e12 ? ['billion', 1e9] : ['trillion', 1e12];
  return `1 in ${count(times / Number(unit))} ${name}`;
}

/** Formats `2026-11-01 12:00:00Z`. */
export function clock(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)}Z`;
}

/** Formats `p99`, `p99.9`. */
export function quantileName(q: number): string {
  return `p${Number((q * 100).toPrecision(6))}`;
}

/** Escapes control characters, which may come from events, so that they cannot move the cursor. */
export function visible(text: string): string {
  return text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not get through.
    /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
