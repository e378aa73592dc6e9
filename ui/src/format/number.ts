/** Numbers as text. A column has one unit, so its formatter is made from all its values. */

const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const thin = '\u202f';
const none = '–';

/** Durations from here on are in seconds. */
const secondsFromMs = 10_000;
/** Requests beyond a quantile that make it worth showing as one. */
const leastBeyond = 20;

export interface UnitFormat {
  readonly unit: 'ms' | 's';
  /** Without the unit; three digits, so that a column lines up. */
  readonly format: (ms: number | null | undefined) => string;
}

/** The unit of a column of milliseconds: seconds where one value reaches 10 s. */
export function msFormat(values: Iterable<number | null | undefined>): UnitFormat {
  const { unit, factor } = unitOf(values);
  return { unit, format: (ms) => (ms == null ? none : threeDigits(ms * factor)) };
}

/** One duration with its unit, for a sentence: `512 ms`, `12.4 s`. */
export function formatMs(ms: number | null | undefined): string {
  if (ms == null) return none;
  const { unit, factor } = unitOf([ms]);
  return `${decimal(ms * factor)}${thin}${unit}`;
}

/** One duration for a cell, in its own unit: 840 µs, 61.0 ms, 1.24 s; three digits, whatever stands in other cells. */
export function msCell(ms: number): { readonly text: string; readonly unit: 'µs' | 'ms' | 's' } {
  if (ms === 0 || (ms >= 0.9995 && ms < 999.5)) return { text: threeDigits(ms), unit: 'ms' };
  return ms < 1
    ? { text: threeDigits(ms * 1000), unit: 'µs' }
    : { text: threeDigits(ms / 1000), unit: 's' };
}

function unitOf(values: Iterable<number | null | undefined>) {
  let most = 0;
  for (const value of values) most = Math.max(most, Math.abs(value ?? 0));
  return most >= secondsFromMs
    ? ({ unit: 's', factor: 1e-3 } as const)
    : ({ unit: 'ms', factor: 1 } as const);
}

/** `512`, `61.0`, `4.70`: three digits, for a column. What rounds to nothing is `< 0.01`. */
export function threeDigits(value: number): string {
  const size = Math.abs(value);
  if (value === 0) return '0';
  if (size >= 99.95) return minus(grouped.format(value));
  if (size < 0.005) return value < 0 ? '> −0.01' : '< 0.01';
  return minus(value.toFixed(size >= 9.995 ? 1 : 2));
}

/** `512`, `61`, `4.7`: three digits without zeros at the end, for a sentence. */
export function decimal(value: number): string {
  const text = threeDigits(value);
  return text.includes('.') && !/[<>]/.test(text) ? text.replace(/\.?0+$/, '') : text;
}

export function formatCount(value: number | null | undefined): string {
  return value == null ? none : grouped.format(value);
}

/** `0 %`, `0.03 %`, `1.4 %`, `12 %`; never 0 or 100 for what only rounds to it. */
export function formatShare(share: number | null | undefined): string {
  if (share == null) return none;
  const percent = share * 100;
  const size = Math.abs(percent);
  if (size > 0 && size < 0.005) return `${percent < 0 ? '> −' : '< '}0.01${thin}%`;
  if (size > 99.9 && size < 100) return `${percent < 0 ? '< −' : '> '}99.9${thin}%`;
  const digits =
    size === 0 || size === 100
      ? 0
      : size < 0.995
        ? 2
        : size < 9.95 || (size > 90 && size < 100)
          ? 1
          : 0;
  return `${minus(percent.toFixed(digits))}${thin}%`;
}

/** `51/s`, `0.2/s`. */
export function formatPerSecond(value: number | null | undefined): string {
  return value == null ? none : `${decimal(value)}/s`;
}

/** A share that somebody chose, with all its digits: `99.95 %`. */
export function formatExactShare(share: number): string {
  return `${minus(String(Number((share * 100).toFixed(6))))}${thin}%`;
}

/** `123 %`: of parts that add up, where digits behind the point only distract. */
export function wholePercent(share: number): string {
  return `${minus(String(Math.round(share * 100)))}${thin}%`;
}

/** `× 1.32`, `× 2.1`, `× 12`: the digits that messages have. */
export function formatRatio(ratio: number | null | undefined): string {
  if (ratio == null) return none;
  const digits = ratio >= 9.95 ? 0 : ratio >= 1.995 ? 1 : 2;
  return `×${thin}${ratio.toFixed(digits)}`;
}

/** `+177 ms`, `−32 ms`; `0 ms` for what rounds to nothing. */
export function formatSignedMs(ms: number | null | undefined): string {
  if (ms == null) return none;
  if (Math.abs(ms) < 0.005) return formatMs(0);
  return `${ms > 0 ? '+' : ''}${formatMs(ms)}`;
}

/** `+177`, `−32`, `0` for what rounds to nothing: for a column of differences. */
export function signedDecimal(value: number): string {
  if (Math.abs(value) < 0.005) return '0';
  return `${value > 0 ? '+' : ''}${decimal(value)}`;
}

/** `p99`, `p99.9` of 0.99, 0.999. */
export function quantileName(q: number): string {
  return `p${Number((q * 100).toFixed(4))}`;
}

/** Requests that a quantile needs: 2,000 for p99. */
export function requestsNeeded(q: number): number {
  return Math.ceil(Number((leastBeyond / (1 - q)).toFixed(6)));
}

/** Whether so few requests lie beyond the quantile that it is drawn hollow. */
export function isHollow(q: number, requests: number): boolean {
  return requests < requestsNeeded(q);
}

/** `34 requests: p99 needs 2,000`. */
export function hollowReason(q: number, requests: number): string {
  const counted = `${formatCount(requests)} ${requests === 1 ? 'request' : 'requests'}`;
  return `${counted}: ${quantileName(q)} needs ${formatCount(requestsNeeded(q))}`;
}

/** `1 incident`, `2 incidents`. */
export function plural(count: number, noun: string, nouns = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : nouns}`;
}

function minus(text: string): string {
  return text.replace('-', '−');
}
