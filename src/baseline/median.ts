/** Median, or the mean of the two middle values; NaN if there are none, or one is NaN. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length / 2;
  const low = sorted[Math.ceil(half) - 1] ?? Number.NaN;
  return (low + (sorted[Math.floor(half)] ?? Number.NaN)) / 2;
}
