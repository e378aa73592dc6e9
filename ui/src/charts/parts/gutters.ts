/** Room around a plot over time, the same in all charts, so that equal times lie below each other. */
export interface Gutters {
  readonly left: number;
  readonly right: number;
}

const narrow = 560;

export const guttersOf = (width: number): Gutters =>
  width < narrow ? { left: 44, right: 42 } : { left: 52, right: 52 };

/** Ticks that fit a time axis of a width. */
export const timeTicksOf = (width: number): number => Math.max(2, Math.floor(width / 70));
