import type { Durations } from '../draw-window.ts';

/** Levels whose exceedances are counted. */
const quantiles = [0.95, 0.99] as const;
/** Sums that are kept of each window: of logarithms, and of requests beyond each level. */
export const statistics = 1 + quantiles.length;

/**
 * What a chart shows of each window of a stage: requests, and the sums of three statistics over them: ln of
 * the duration, and how many lie beyond the p95 and p99 of the first day. As prefix sums: entry w is of the
 * windows before w.
 */
export class WindowStatistics {
  readonly requests: Float64Array;
  readonly sums: readonly Float64Array[];
  readonly #cuts: readonly number[];

  /** @param cuts values of `quantiles`, as `cutsOf` returns them */
  constructor(windows: number, cuts: readonly number[]) {
    this.requests = new Float64Array(windows + 1);
    this.sums = Array.from({ length: statistics }, () => new Float64Array(windows + 1));
    this.#cuts = cuts;
  }

  /** Adds the windows in order. */
  add(window: number, durations: readonly number[]): void {
    let logs = 0;
    const beyond = this.#cuts.map(() => 0);
    for (const ms of durations) {
      logs += Math.log(ms);
      for (let i = 0; i < beyond.length; i++) {
        if (ms > (this.#cuts[i] as number)) beyond[i] = (beyond[i] as number) + 1;
      }
    }
    this.requests[window + 1] = (this.requests[window] as number) + durations.length;
    [logs, ...beyond].forEach((value, i) => {
      const sums = this.sums[i] as Float64Array;
      sums[window + 1] = (sums[window] as number) + value;
    });
  }
}

/** Values of the levels in a sample. */
export function cutsOf(sample: readonly number[]): number[] {
  const sorted = Float64Array.from(sample).sort();
  return quantiles.map((q) => sorted[Math.floor(q * sorted.length)] ?? Number.POSITIVE_INFINITY);
}

/** The stages of requests, and their total under the name `total`. */
export function withTotal(durations: Durations): Map<string, readonly number[]> {
  const columns = [...durations.values()];
  const total = (columns[0] ?? []).map((_, n) =>
    columns.reduce((sum, column) => sum + (column[n] as number), 0),
  );
  return new Map([...durations, ['total', total]]);
}
