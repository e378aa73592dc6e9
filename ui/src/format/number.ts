/**
 * Numbers as messages have them, with a space before the unit at which no line breaks. A column has one unit:
 * its formatter is made from all its values.
 */

import * as shared from '../../../src/contract/format.ts';

export { hollowReason, isHollow } from '../../../src/contract/few-requests.ts';

export const { boundPrefix, decimal, durationText, lastedText, quantileName, threeDigits } = shared;

const thin = '\u202f';
const none = '–';

/** The text of a number, with a space before its unit at which no line breaks; "–" of none. */
const withUnit =
  (format: (value: number) => string) =>
  (value: number | null | undefined): string =>
    value == null ? none : format(value).replace(/ (?=\S+$)/, thin);

/** One duration, for a sentence: `512 ms`, `12.4 s`. */
export const formatMs = withUnit(shared.formatMs);
/** `+177 ms`, `−32 ms`; `0 ms` for what rounds to nothing. */
export const formatSignedMs = withUnit(shared.formatSignedMs);
/** `0.03 %`, `1.4 %`, `12 %`. */
export const formatShare = withUnit(shared.formatShare);
/** A share that somebody chose, with all its digits: `99.95 %`. */
export const formatExactShare = withUnit(shared.formatExactShare);
/** `123 %`: of parts that add up, where digits behind the point only distract. */
export const wholePercent = withUnit(shared.wholePercent);
/** `+8 %` of 1.08. */
export const signedPercent = withUnit(shared.signedPercent);
/** `51/s`, `12/min`. */
export const formatPerSecond = withUnit(shared.formatPerSecond);
/** `1.32x`, `12x`. */
export const formatRatio = withUnit(shared.formatRatio);
/** `1,204,551`: requests of a page are whole. */
export const formatCount = withUnit((value) => shared.formatCount(Math.round(value)));
/** `4,200`: about as many, with two digits. */
export const formatAbout = withUnit((value) => shared.formatCount(Number(value.toPrecision(2))));
/** A duration in the unit of a longer one beside it: `17.7 s` and `6.55 s`. */
export const formatMsBeside = (ms: number, longerMs: number) =>
  withUnit(shared.formatMsOf(ms, longerMs))(ms);

/** A duration of a status: `45 s`, `12 min`, `3 h 20 min`. */
export const secondsText = (seconds: number): string => durationText(seconds * 1000);

export interface UnitFormat {
  readonly unit: 'ms' | 's';
  /** Without the unit; three digits, so that a column lines up. */
  readonly format: (ms: number | null | undefined) => string;
  /** The same without zeros at the end, for an axis and what stands on it. */
  readonly tick: (ms: number) => string;
  /** The same with a sign: `+177`, `−32`, `0` for what rounds to nothing. */
  readonly signed: (ms: number) => string;
}

/** The unit of a column of milliseconds, or of an axis: seconds where one value reaches 10 s. */
export function msFormat(values: Iterable<number | null | undefined>): UnitFormat {
  const { unit, factor } = unitOf(values);
  // What is short beside seconds keeps its digits: 12 ms are 0.012 s.
  const isShort = (ms: number) => unit === 's' && ms !== 0 && Math.abs(ms) < 995;
  const short = (ms: number) => String(Number((ms * factor).toPrecision(3))).replace('-', '−');
  const tick = (ms: number) => (isShort(ms) ? short(ms) : decimal(ms * factor));
  return {
    unit,
    format: (ms) => (ms == null ? none : isShort(ms) ? short(ms) : threeDigits(ms * factor)),
    tick,
    signed: (ms) => (Math.abs(ms) < 0.005 ? '0' : `${ms > 0 ? '+' : ''}${tick(ms)}`),
  };
}

/** Two durations with one unit, for a sentence: `41 to 78 ms`, `6.14 to 10.2 s`. */
export function formatMsRange(fromMs: number, toMs: number): string {
  const { unit, factor } = unitOf([fromMs, toMs]);
  return `${decimal(fromMs * factor)} to ${decimal(toMs * factor)}${thin}${unit}`;
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
  return most >= shared.secondsFromMs
    ? ({ unit: 's', factor: 1e-3 } as const)
    : ({ unit: 'ms', factor: 1 } as const);
}

/** `1 incident`, `2 incidents`. */
export function plural(count: number, noun: string, nouns = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : nouns}`;
}
