/** Distribution of durations by the share of requests that exceed each. */
export interface DurationLaw {
  readonly name: string;
  /** Share of requests above so many milliseconds. */
  readonly above: (ms: number) => number;
}

/** Share above a median of a lognormal, by its deviation. */
function lognormalAbove(ms: number, median: number, deviation: number): number {
  return normalAbove(Math.log(ms / median) / deviation);
}

/** Share of a standard normal above z, to 1e-7 (Abramowitz and Stegun 7.1.26). */
function normalAbove(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * x);
  const poly = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592];
  const half = 0.5 * poly.reduce((sum, c) => sum * t + c, 0) * t * Math.exp(-x * x);
  return z >= 0 ? half : 1 - half;
}

export const lognormal: DurationLaw = {
  name: 'lognormal, σ 0.5',
  above: (ms) => lognormalAbove(ms, 80, 0.5),
};
export const slowBranch: DurationLaw = {
  name: 'one request in twenty takes a slow branch',
  above: (ms) => 0.95 * lognormalAbove(ms, 70, 0.25) + 0.05 * lognormalAbove(ms, 200, 0.4),
};
export const wide: DurationLaw = {
  name: 'lognormal, σ 0.8',
  above: (ms) => lognormalAbove(ms, 80, 0.8),
};
export const pareto: DurationLaw = {
  name: 'one in ten from a Pareto tail, α 2',
  above: (ms) => 0.9 * lognormalAbove(ms, 60, 0.3) + 0.1 * Math.min(1, (90 / ms) ** 2),
};
export const bimodal: DurationLaw = {
  name: 'cache hits of 20 ms, misses of 200 ms',
  above: (ms) => 0.8 * lognormalAbove(ms, 20, 0.25) + 0.2 * lognormalAbove(ms, 200, 0.25),
};

export const perToken: DurationLaw = {
  name: 'lognormal, σ 0.25',
  above: (ms) => lognormalAbove(ms, 25, 0.25),
};

const logOddsStep = 0.01;
const mostLogOdds = 14;

/** Durations by the log odds of exceeding them: makes drawing cheap. */
export class DurationTable {
  readonly #logs: Float64Array;

  constructor({ above }: DurationLaw) {
    const size = Math.round((2 * mostLogOdds) / logOddsStep) + 1;
    this.#logs = new Float64Array(size);
    // From the longest down, by bisection of the logarithm.
    for (let i = 0; i < size; i++) {
      const share = 1 / (1 + Math.exp(mostLogOdds - i * logOddsStep));
      let [low, high] = [Math.log(0.01), Math.log(1e9)];
      for (let step = 0; step < 50; step++) {
        const middle = (low + high) / 2;
        if (above(Math.exp(middle)) > share) low = middle;
        else high = middle;
      }
      this.#logs[i] = (low + high) / 2;
    }
  }

  /** The duration that a request exceeds with these log odds. */
  msAt(logOdds: number): number {
    const at = (logOdds + mostLogOdds) / logOddsStep;
    const i = Math.min(Math.max(0, Math.floor(at)), this.#logs.length - 2);
    const low = this.#logs[i] as number;
    return Math.exp(low + ((this.#logs[i + 1] as number) - low) * Math.min(1, at - i));
  }
}
