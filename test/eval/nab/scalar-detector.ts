import { SortedPast } from './sorted-past.ts';

const dayMs = 86_400_000;
/** Gains of the two levels that are followed. */
const gains = { fast: 0.1, slow: 0.005 } as const;
/** A value that is one in twenty says nothing; and so much evidence is enough. */
const meanSurprise = 3;
const mostEvidence = 30;
/** No history is calmer than this. */
const leastLevel = 5;
/** Part of the highest evidence so far from which on it is told, and below which it is quiet again. */
const parts = { opens: 0.5, ends: 0.5 } as const;
/** What has grown so much since it was last told is told again. */
const growth = 1.5;
const quietRecords = 50;

/**
 * What the detector does with requests, done with one value a time step: values are foretold, how far off
 * that was is held against how far off it has been (`SortedPast`), surprises add up for as long as they are
 * more than usual (CUSUM), and what they must add up to comes from the series' own extremes. It tells once,
 * and again if it gets much worse, until all has been quiet for a while.
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
  /** The part that was last told while something is open, else undefined. */
  #told: number | undefined;
  #quiet = 0;

  /** The next value. 0, or how sure it is that something begins here, below 1. */
  take(timeMs: number, value: number): number {
    const { timesMs, values } = this.#past;
    if (timesMs.length === 0) {
      this.#fast = value;
      this.#slow = value;
    }
    const foretold = [values.at(-1) ?? value, this.#fast, this.#slow, this.#ofYesterday(timeMs)];
    let part = 0;
    this.#tests.forEach((test, i) => {
      const error = Math.abs(value - (foretold[i] as number));
      const evidence = test.evidence + test.errors.surprise(error) - meanSurprise;
      test.evidence = Math.min(Math.max(evidence, 0), mostEvidence);
      test.errors.take(error);
      part = Math.max(part, test.evidence / test.highest);
      test.highest = Math.max(test.highest, test.evidence);
    });
    timesMs.push(timeMs);
    values.push(value);
    this.#fast += gains.fast * (value - this.#fast);
    this.#slow += gains.slow * (value - this.#slow);
    return this.#tells(part) ? part / (1 + part) : 0;
  }

  #tells(part: number): boolean {
    if (this.#told === undefined) {
      if (part <= parts.opens) return false;
      this.#told = part;
      this.#quiet = 0;
      return true;
    }
    const grew = part > growth * this.#told;
    if (grew) this.#told = part;
    this.#quiet = part < parts.ends ? this.#quiet + 1 : 0;
    if (this.#quiet >= quietRecords) this.#told = undefined;
    return grew;
  }

  /** The value of a day ago; the slow level before there is one. */
  #ofYesterday(timeMs: number): number {
    const { timesMs, values } = this.#past;
    const dayAgoMs = timeMs - dayMs;
    if ((timesMs[0] ?? timeMs) > dayAgoMs) return this.#slow;
    while ((timesMs[this.#yesterday + 1] ?? timeMs) <= dayAgoMs) this.#yesterday++;
    return values[this.#yesterday] as number;
  }
}
