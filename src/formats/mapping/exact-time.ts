import { epochMsOf } from '../../decode/epoch-ms-of.ts';

/** Units of times and durations, with the powers of ten that make nanoseconds of them. */
const powers = { s: 9, ms: 6, us: 3, ns: 0 } as const;

export type Unit = keyof typeof powers;

export const units = Object.keys(powers) as [Unit, ...Unit[]];

const decimal = /^(-?)(\d{1,40})(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,3}))?$/;

/**
 * Nanoseconds of a decimal number, rounded to the nearest; undefined for what is none. It shifts the decimal
 * point of the number as written: 1795625130.617212 s − 1795625130.238437 s is 378.775 ms, where floating
 * point gives 378.77488.
 */
export function nanosecondsOf(value: unknown, unit: Unit): bigint | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  const match = decimal.exec(typeof value === 'number' ? String(value) : value.trim());
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  const shift = powers[unit] + Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction);
  const size = shift >= 0 ? digits * 10n ** BigInt(shift) : divided(digits, 10n ** BigInt(-shift));
  return sign === '-' ? -size : size;
}

/** Quotient of two numbers that are not negative, rounded to the nearest. */
function divided(number: bigint, by: bigint): bigint {
  return (number + by / 2n) / by;
}

/** Nanoseconds since the epoch of an RFC 3339 date-time, digits beyond them cut; undefined for other text. */
export function dateTimeNanoseconds(text: string): bigint | undefined {
  const ms = epochMsOf(text);
  if (Number.isNaN(ms)) return undefined;
  const belowMs = /\.\d{3}(\d{1,6})/.exec(text)?.[1] ?? '';
  return BigInt(ms) * 1_000_000n + BigInt(belowMs.padEnd(6, '0'));
}

/** Milliseconds, exact to 1e-6. */
export function millisecondsOf(nanoseconds: bigint): number {
  return Number(nanoseconds) / 1e6;
}

/** Whole milliseconds since the epoch, fractions cut as the contract cuts them. */
export function wholeMilliseconds(nanoseconds: bigint): number {
  return Number(nanoseconds / 1_000_000n);
}
