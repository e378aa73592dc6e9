import { highWord } from '../sketch/high-word.ts';
import type { TDigest } from '../sketch/t-digest.ts';
import { faultTemplates } from './fault-templates.ts';

/** Bins are an eighth of an octave: exponent and the top 3 bits of the mantissa. */
const SHIFT = 20 - 3;
const binsPerOctave = 8;
/** Durations below count as this one: 2^-10 ms. */
const leastMs = 2 ** -10;
/** Bins on either side of what the baseline has seen; what lies beyond counts as the outermost. */
const margin = { below: 8, above: 40 } as const;
/** A bin is as dense as those around it that hold so many requests, four to either side at most. */
const neighbours = { requests: 3, bins: 4 } as const;
/** One more request is taken to lie anywhere, less likely by the octave: half above the median. */
const priorFall = { above: 1, below: 2 } as const;
/** No request says more, in nats, whatever it took. */
const mostEvidence = 4;
const mostRatio = Math.exp(mostEvidence);

const count = faultTemplates.length;
const shifts = faultTemplates.map(({ octaves }) => Math.round(octaves * binsPerOctave));

/**
 * What each duration says for each fault, against nothing being wrong: ln of the ratio of its densities,
 * with the fault and without. The usual density is the baseline's, in bins; a fault moves part of it.
 * Sums of it over requests are a log-likelihood ratio, so that it exceeds x by chance with a probability
 * of e^-x at most (Wald 1945; Ville 1939).
 *
 * Making one takes some 30 µs, weighing a window about one. Memory: 64 bytes a bin in use, some 6 KB.
 */
export class EvidenceWeights {
  readonly #low: number;
  readonly #bins: number;
  /** By bin, a weight for each fault. */
  readonly #weights: Float32Array;
  /** Mean and variance of a usual request's weight, by fault. */
  readonly means = new Float64Array(count);
  readonly variances = new Float64Array(count);

  constructor(usual: TDigest) {
    const first = binOf(usual.means[0] ?? leastMs);
    const last = binOf(usual.means.at(-1) ?? leastMs);
    this.#low = first - margin.below;
    this.#bins = last - first + 1 + margin.below + margin.above;
    this.#weights = new Float32Array(this.#bins * count);
    const density = this.#densityOf(usual);
    for (let t = 0; t < count; t++) this.#weigh(t, density);
  }

  /** Adds up what a window's requests say, for each fault, into `sums`. */
  weigh({ means, weights }: TDigest, sums: Float64Array): void {
    sums.fill(0);
    const table = this.#weights;
    const top = this.#bins - 1;
    for (let i = 0; i < means.length; ) {
      const bin = binOf(means[i] as number);
      let requests = 0;
      // Centroids ascend: those of one bin follow each other.
      while (i < means.length && binOf(means[i] as number) === bin)
        requests += weights[i++] as number;
      const from = Math.min(Math.max(bin - this.#low, 0), top) * count;
      for (let t = 0; t < count; t++) {
        sums[t] = (sums[t] as number) + requests * (table[from + t] as number);
      }
    }
  }

  /** Part of usual requests in each bin; none is empty. */
  #densityOf({ means, weights }: TDigest): Float64Array {
    const bins = this.#bins;
    const upTo = new Float64Array(bins + 1);
    for (let i = 0; i < means.length; i++) {
      const at = binOf(means[i] as number) - this.#low + 1;
      upTo[at] = (upTo[at] as number) + (weights[i] as number);
    }
    for (let i = 0; i < bins; i++) upTo[i + 1] = (upTo[i + 1] as number) + (upTo[i] as number);
    const total = upTo[bins] as number;
    const within = (bin: number, reach: number) =>
      (upTo[Math.min(bins, bin + reach + 1)] as number) -
      (upTo[Math.max(0, bin - reach)] as number);
    const median = upTo.findIndex((sum) => sum >= total / 2) - 1;
    const density = new Float64Array(bins);
    let sum = 0;
    for (let bin = 0; bin < bins; bin++) {
      let reach = 1;
      while (reach < neighbours.bins && within(bin, reach) < neighbours.requests) reach++;
      const away = (bin - median) / binsPerOctave;
      const fall = away >= 0 ? -away * priorFall.above : away * priorFall.below;
      const prior = 2 ** fall / (2 * binsPerOctave);
      density[bin] = within(bin, reach) / (2 * reach + 1) + prior;
      sum += density[bin] as number;
    }
    return density.map((requests) => requests / sum);
  }

  #weigh(t: number, density: Float64Array): void {
    const { share } = faultTemplates[t] as (typeof faultTemplates)[number];
    const shift = shifts[t] as number;
    const leastWeight = Math.max(Math.log(1 - share), -mostEvidence);
    let mean = 0;
    let square = 0;
    for (let bin = 0; bin < this.#bins; bin++) {
      const usual = density[bin] as number;
      const slowed = bin >= shift ? (density[bin - shift] as number) : 0;
      const ratio = 1 - share + (share * slowed) / usual;
      // Most bins are at one of the ends, which need no logarithm.
      const isBetween = slowed > 0 && ratio < mostRatio;
      const between = isBetween ? Math.max(Math.log(ratio), -mostEvidence) : leastWeight;
      const weight = ratio >= mostRatio ? mostEvidence : between;
      this.#weights[bin * count + t] = weight;
      mean += usual * weight;
      square += usual * weight * weight;
    }
    this.means[t] = mean;
    this.variances[t] = square - mean * mean;
  }
}

function binOf(ms: number): number {
  return highWord(Math.max(ms, leastMs)) >>> SHIFT;
}
