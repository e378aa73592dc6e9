import type { Fan } from '../geometry/fan.ts';
import type { TimeSpan } from '../geometry/step-grid.ts';

/** Data that a fan is drawn with; read again for each drawing. */
export interface FanScene {
  readonly fan: Fan;
  readonly range: TimeSpan;
  readonly utc: boolean;
  /** Quantiles that are hidden. */
  readonly hidden: ReadonlySet<number>;
  /** Quantile that the baseline is of; its line is the widest. */
  readonly mainQ: number;
  readonly incidents: readonly TimeSpan[];
  readonly releases: readonly number[];
  readonly gutters: { readonly left: number; readonly right: number };
}

/** Colours of quantiles, deeper towards the tail. */
export function colorOf(q: number): `--q-${1 | 2 | 3 | 4 | 5}` {
  if (q < 0.7) return '--q-1';
  if (q < 0.97) return '--q-3';
  return q < 0.995 ? '--q-4' : '--q-5';
}

/** A colour with an opacity. */
export const withAlpha = (color: string, alpha: number): string =>
  `color-mix(in srgb, ${color} ${Math.round(alpha * 100)}%, transparent)`;
