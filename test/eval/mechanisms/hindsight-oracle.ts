import { windowsPerDay } from '../null-families.ts';
import { statistics, type WindowStatistics } from './window-statistics.ts';

/** Windows over which evidence is summed. */
const spans = [1, 2, 3, 4, 6, 9, 12, 18, 30, 45, 60, 90, 120, 180, 360, 720, 1440] as const;
/** How far over the largest value of all other times evidence must be. */
const margin = 1.25;
const leastRequests = 3;

/** Windows of the past that predict a level: from so many before, to so many. */
const predictors = [
  { from: 6, to: 0 },
  { from: 60, to: 0 },
  { from: 360, to: 0 },
  { from: windowsPerDay + 180, to: windowsPerDay - 180 },
  { from: windowsPerDay, to: 0 },
] as const;

/**
 * What somebody with the best chart would have seen. It knows when a fault begins, and the same traffic
 * without it. A chart is one stage, one of three statistics, one of five predictions of its level and one span
 * of time; its value is the excess over the prediction, over its error by chance.
 *
 * A fault is found with the first span in which a chart is 1.25 times as high as ever at any other time. So no
 * law is needed. The more charts, the more often one is so high without a fault: `sham` says how often.
 */
export class HindsightOracle {
  readonly #calm: ReadonlyMap<string, WindowStatistics>;
  readonly #windows: number;

  /** @param calm each stage without faults, over all windows: the first day only predicts */
  constructor(calm: ReadonlyMap<string, WindowStatistics>, windows: number) {
    this.#calm = calm;
    this.#windows = windows;
  }

  /**
   * Finds faults: for each the windows until it is found, undefined where it is not.
   *
   * @param faulty the same windows with the faults
   * @param faults their first window and the one after the last
   */
  find(
    faulty: ReadonlyMap<string, WindowStatistics>,
    faults: readonly { readonly from: number; readonly to: number }[],
  ): (number | undefined)[] {
    const found: (number | undefined)[] = faults.map(() => undefined);
    for (const [stage, calm] of this.#calm) {
      const other = faulty.get(stage);
      if (other === undefined) continue;
      for (let statistic = 0; statistic < statistics; statistic++) {
        for (const predictor of predictors) {
          const chart = new Chart(calm, statistic, predictor);
          for (const span of spans) this.#look(chart, span, other, faults, found);
        }
      }
    }
    return found;
  }

  /** The same for stretches without a fault. */
  sham(faults: readonly { readonly from: number; readonly to: number }[]): (number | undefined)[] {
    return this.find(this.#calm, faults);
  }

  #look(
    chart: Chart,
    span: number,
    faulty: WindowStatistics,
    faults: readonly { readonly from: number; readonly to: number }[],
    found: (number | undefined)[],
  ): void {
    if (faults.every(({ from, to }, i) => span > to - from || span >= (found[i] ?? Infinity)))
      return;
    const values = chart.values(span, windowsPerDay, this.#windows);
    const [highestUntil, highestFrom] = [runningMax(values), runningMax(values.toReversed())];
    faults.forEach(({ from, to }, i) => {
      if (span > to - from || span >= (found[i] ?? Number.POSITIVE_INFINITY)) return;
      // Other times: spans that end before the fault, or begin after it.
      const before = highestUntil[from - span - windowsPerDay] ?? 0;
      const after = highestFrom[values.length - 1 - (to - windowsPerDay)] ?? 0;
      const value = chart.value(faulty, from, span);
      if (value > margin * Math.max(before, after, 1)) found[i] = span;
    });
  }
}

/** One statistic of a stage, beside one prediction. */
class Chart {
  readonly #calm: WindowStatistics;
  readonly #statistic: number;
  readonly #from: number;
  readonly #to: number;
  readonly #variance: number;

  constructor(
    calm: WindowStatistics,
    statistic: number,
    { from, to }: { from: number; to: number },
  ) {
    this.#calm = calm;
    this.#statistic = statistic;
    this.#from = from;
    this.#to = to;
    const sums = calm.sums[statistic] as Float64Array;
    const requests = calm.requests.at(-1) as number;
    const mean = (sums.at(-1) as number) / requests;
    // Of a share by chance; of logarithms a scale that all values have in common.
    this.#variance = statistic === 0 ? 1 : Math.max(mean * (1 - mean), 1e-6);
  }

  /** Excess of the windows from one on over what those before predict; 0 with too two a minute. */
  value(observed: WindowStatistics, at: number, span: number): number {
    const { requests, sums } = this.#calm;
    const own = sums[this.#statistic] as Float64Array;
    const [begin, end] = [Math.max(0, at - this.#from), at - this.#to];
    const past = (requests[end] as number) - (requests[begin] as number);
    const seen = observed.sums[this.#statistic] as Float64Array;
    const n = (observed.requests[at + span] as number) - (observed.requests[at] as number);
    if (past < leastRequests || n < leastRequests) return 0;
    const level = ((own[end] as number) - (own[begin] as number)) / past;
    const excess = (seen[at + span] as number) - (seen[at] as number) - n * level;
    return excess / Math.sqrt(this.#variance * n * (1 + n / past));
  }

  /** Values of spans that begin at each window from one on, while they end before another. */
  values(span: number, first: number, end: number): Float64Array {
    const values = new Float64Array(Math.max(0, end - span + 1 - first));
    for (let i = 0; i < values.length; i++) values[i] = this.value(this.#calm, first + i, span);
    return values;
  }
}

function runningMax(values: Float64Array): Float64Array {
  let highest = 0;
  return values.map((value) => {
    highest = Math.max(highest, value);
    return highest;
  });
}
