import { linePath, type StepValues } from './paths.ts';
import type { Scale } from './scale.ts';

/** Height of a sparkline in its own units; its width is one unit a step. */
export const sparkHeight = 24;
/** Room for the line's width above and below. */
const margin = 2;
/** Least ratio of the upper end to the lower one on a scale of ratios: noise else looks like news. */
const leastRatio = 4;

export interface SparklineOptions {
  /** By step; null is a gap. */
  readonly values: StepValues;
  /** Baseline of the values, by step; null where there is none. */
  readonly baseline?: StepValues | undefined;
  /** `ratio`: logarithmic, for durations. `zero`: linear from 0, for rates. */
  readonly scale: 'ratio' | 'zero';
  /** Values from this multiple of their baseline on are marked. */
  readonly markedFrom?: number | undefined;
}

/** Paths of a sparkline, and the least and largest value. */
export interface Sparkline {
  readonly line: string;
  readonly baseline: string;
  /** The parts of the line that are far above their baseline. */
  readonly marked: string;
  readonly least: number;
  readonly most: number;
}

/** Undefined where there is nothing to draw. */
export function sparklineOf(options: SparklineOptions): Sparkline | undefined {
  const { values, baseline = [], scale, markedFrom = Number.POSITIVE_INFINITY } = options;
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return undefined;
  const heightOf = heights(scale, [...known, ...baseline.filter((value) => value !== null)]);
  const isMarked = values.map((value, i) => {
    const base = baseline[i] ?? null;
    return value !== null && base !== null && value >= markedFrom * base;
  });
  const pathOf = (of: StepValues) => linePath(of, (step) => step + 0.5, heightOf);
  return {
    line: pathOf(values),
    baseline: pathOf(baseline),
    marked: pathOf(values.map((value, i) => (isMarked[i] ? value : null))),
    least: Math.min(...known),
    most: Math.max(...known),
  };
}

function heights(scale: SparklineOptions['scale'], all: readonly number[]): Scale {
  const most = Math.max(...all);
  const y = (part: number) => sparkHeight - margin - part * (sparkHeight - 2 * margin);
  if (scale === 'zero') return (value) => y(most === 0 ? 0 : value / most);
  const positive = all.filter((value) => value > 0);
  if (positive.length === 0) return () => y(0);
  const least = Math.min(...positive);
  const room = Math.max(0, Math.log(leastRatio) - Math.log(most / least)) / 2;
  const [low, high] = [Math.log(least) - room, Math.log(most) + room];
  return (value) => y(value <= 0 ? 0 : (Math.log(value) - low) / (high - low));
}
