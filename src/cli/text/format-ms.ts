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
