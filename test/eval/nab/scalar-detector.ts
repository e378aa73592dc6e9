import { dayMs } from '../../../src/base/time.ts';
import { SortedPast } from './sorted-past.ts';

/** Gains of the fast and the slow level. */
const gains = { fast: 0.1, slow: 0.005 } as const;
/** A value that is one in twenty counts as normal; and the evidence that suffices. */
const meanSurprise = 3;
const mostEvidence = 30;
/** Lower bound of the level of any history. */
const leastLevel = 5;
/** Parts of the highest evidence so far above which it opens, and below which it is clear again. */
const parts = { opens: 0.5, ends: 0.5 } as const;
/** Growth since the last detection that is detected again. */
const growth = 1.5;
const clearRecords = 50;

/**
 * The detector's method for requests, applied to one value a time step. Values are predicted, and each error
 * is compared with earlier errors (`SortedPast`). Surprises above the mean add up (CUSUM) to a threshold from
 * the series' own extremes. It detects once, and again if it gets much worse, until it was clear for a while.
 */
export class ScalarDetector {
  readonly #past: { readonly timesMs: number[]; readonly values: number[] } = {
    timesMs: [],
    values: [],
  };
  #yesterday = 0;
  #fast = 0;
  #slow = 0;
  readonly #tests = Array.from({ length: 4 }, () => ({
    errors: new SortedPast(),
    evidence: 0,
    highest: leastLevel,
  }));
  /** Part at the last detection while one is open, else undefined. */
  #detected: number | undefined;
  #clear = 0;

  /** Adds the next value. Returns 0, or the confidence, below 1, that an anomaly starts here. */
  observe(timeMs: number, value: number): number {
    const { timesMs, values } = this.#past;
    if (timesMs.length === 0) {
      this.#fast = value;
      this.#slow = value;
    }
    const predicted = [values.at(-1) ?? value, this.#fast, this.#slow, this.#ofYesterday(timeMs)];
    let part = 0;
    this.#tests.forEach((test, i) => {
      const error = Math.abs(value - (predicted[i] as number));
      const evidence = test.evidence + test.errors.surprise(error) - meanSurprise;
      test.evidence = Math.min(Math.max(evidence, 0), mostEvidence);
      test.errors.observe(error);
      part = Math.max(part, test.evidence / test.highest);
      test.highest = Math.max(test.highest, test.evidence);
    });
    timesMs.push(timeMs);
    values.push(value);
    this.#fast += gains.fast * (value - this.#fast);
    this.#slow += gains.slow * (value - this.#slow);
    return this.#detects(part) ? part / (1 + part) : 0;
  }

  #detects(part: number): boolean {
    if (this.#detected === undefined) {
      if (part <= parts.opens) return false;
      this.#detected = part;
      this.#clear = 0;
      return true;
    }
    const grew = part > growth * this.#detected;
    if (grew) this.#detected = part;
    this.#clear = part < parts.ends ? this.#clear + 1 : 0;
    if (this.#clear >= clearRecords) this.#detected = undefined;
    return grew;
  }

  /** Returns the value of a day ago; the slow level before there is one. */
  #ofYesterday(timeMs: number): number {
    const { timesMs, values } = this.#past;
    const dayAgoMs = timeMs - dayMs;
    if ((timesMs[0] ?? timeMs) > dayAgoMs) return this.#slow;
    while ((timesMs[this.#yesterday + 1] ?? timeMs) <= dayAgoMs) this.#yesterday++;
    return values[this.#yesterday] as number;
  }
}
