import { dayMs, hourMs, minuteMs, secondMs } from '../../../../src/base/time.ts';

/** Maps values to pixels. Both ends of the domain map to the ends of the range. */
export type Scale = (value: number) => number;

/** A span of values or of pixels. */
export type Span = readonly [from: number, to: number];

/** A linear scale; a domain without extent maps to the middle. */
export function linearScale([d0, d1]: Span, [r0, r1]: Span): Scale {
  const extent = d1 - d0;
  if (extent === 0) return () => (r0 + r1) / 2;
  return (value) => r0 + ((value - d0) / extent) * (r1 - r0);
}

/** A logarithmic scale; values must be positive, smaller ones map to the lower end. */
export function logScale([d0, d1]: Span, range: Span): Scale {
  const linear = linearScale([Math.log(d0), Math.log(d1)], range);
  return (value) => linear(Math.log(Math.max(value, d0 / 1e6)));
}

/** Position of a quantile on a 1−q log axis: p90 at 1, p99 at 2, p99.9 at 3. */
export const tailPosition = (q: number): number => -Math.log10(1 - q);

const mantissas = [1, 2, 5] as const;
const fineMantissas = [1, 1.5, 2, 3, 4, 5, 6, 8] as const;
/** Ticks below which a log axis has finer ones. */
const fewTicks = 3;

/**
 * Ticks of a log axis in [from, to]: 1, 2 and 5 times a power of ten, more where those are few, or powers of
 * ten alone where those are too many.
 */
export function logTicks(span: Span, most: number): number[] {
  const plain = logTicksOf(span, most, mantissas);
  if (plain.length >= fewTicks) return plain;
  const fine = logTicksOf(span, most, fineMantissas);
  return fine.length > plain.length ? fine : plain;
}

function logTicksOf([from, to]: Span, most: number, of: readonly number[]): number[] {
  const all: number[] = [];
  const first = Math.floor(Math.log10(from));
  const last = Math.ceil(Math.log10(to));
  for (let power = first; power <= last; power++) {
    for (const mantissa of of)
      all.push(power < 0 ? mantissa / 10 ** -power : mantissa * 10 ** power);
  }
  const isInside = (tick: number) => tick >= from * (1 - 1e-9) && tick <= to * (1 + 1e-9);
  const inside = all.filter(isInside);
  if (inside.length <= most) return inside;
  const isPowerOfTen = (tick: number) => Math.abs(Math.log10(tick) % 1) < 1e-9;
  const powers = inside.filter(isPowerOfTen);
  const stride = Math.max(1, Math.ceil(powers.length / most));
  return powers.filter((_, i) => i % stride === 0);
}

/** Round ticks of a linear axis in [from, to], at most `most`. */
export function linearTicks([from, to]: Span, most: number): number[] {
  if (!(to > from)) return [from];
  const rough = (to - from) / Math.max(1, most - 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step =
    ([1, 2, 5, 10].find((mantissa) => mantissa * power >= rough * (1 - 1e-9)) ?? 10) * power;
  const ticks: number[] = [];
  for (let n = Math.ceil(from / step - 1e-9); n * step <= to + step * 1e-9; n++) {
    ticks.push(Number((n * step).toPrecision(12)));
  }
  return ticks;
}

/** Ticks of a ratio axis in [from, to] around 1: ×1.1 apart where it is narrow, ×2 where it is wide. */
export function ratioTicks([from, to]: Span, most: number): number[] {
  for (const set of ratioSets) {
    const inside = set.filter((tick) => tick >= from * 0.999 && tick <= to * 1.001);
    if (inside.length <= most) return inside;
  }
  return [1];
}

const mirrored = (above: readonly number[]) =>
  [...above.map((tick) => 1 / tick).reverse(), 1, ...above].map((tick) => Number(tick.toFixed(4)));
const ratioSets: readonly (readonly number[])[] = [
  mirrored([1.02, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100]),
  mirrored([1.1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100]),
  mirrored([1.25, 1.5, 2, 3, 5, 10, 20, 50, 100]),
  mirrored([1.5, 2, 3, 5, 10, 20, 50, 100]),
  mirrored([2, 5, 10, 20, 50, 100]),
  mirrored([2, 4, 10, 30, 100]),
  mirrored([10, 100]),
];

/** Lengths between ticks of a time axis. */
const timeSteps = [
  ...[1, 2, 5, 10, 15, 30].map((n) => n * secondMs),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * minuteMs),
  ...[1, 2, 3, 6, 12].map((n) => n * hourMs),
  ...[1, 2, 7, 14, 28, 56, 112, 365].map((n) => n * dayMs),
];

/** Round times for an axis. */
export interface TimeTicks {
  readonly times: readonly number[];
  readonly stepMs: number;
}

/**
 * Round times in [from, to] by the clock of a zone.
 *
 * @param offsetMs what that clock shows minus UTC, at a time.
 */
export function timeTicks(
  fromMs: number,
  toMs: number,
  most: number,
  offsetMs: (atMs: number) => number,
): TimeTicks {
  const rough = (toMs - fromMs) / Math.max(1, most);
  const stepMs = timeSteps.find((step) => step >= rough) ?? timeSteps.at(-1) ?? dayMs;
  const times: number[] = [];
  let local = Math.ceil((fromMs + offsetMs(fromMs)) / stepMs) * stepMs;
  for (; times.length <= most + 1; local += stepMs) {
    const guess = local - offsetMs(fromMs);
    const at = local - offsetMs(guess);
    if (at > toMs) break;
    if (at >= fromMs) times.push(at);
  }
  return { times, stepMs };
}
