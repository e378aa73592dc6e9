/** Formats `1,230`: three significant digits. */
export function count(n: number): string {
  return Number(n.toPrecision(3)).toLocaleString('en-US');
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
