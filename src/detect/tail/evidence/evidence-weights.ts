import { type Allocation, Arena, type ArenaScope, addressOf } from '../../../memory/arena.ts';
import { highWord } from '../../../sketch/high-word.ts';
import type { TDigest } from '../../../sketch/t-digest.ts';
import { evidenceConstants } from './evidence-constants.ts';
import { binsBefore, evidenceRegions, weightsLayout } from './evidence-layout.ts';
import {
  type FaultTemplate,
  faultTemplates,
  slowPathFault,
  slowPathShare,
} from './fault-templates.ts';
import { slowPathOf } from './slow-path.ts';
import { weightsKernel } from './weights-kernel.ts';
import type { WindowScores } from './window-scores.ts';

const memory = Arena.shared();

/** Bins are an eighth of an octave: exponent and the top 3 bits of the mantissa. */
const SHIFT = 20 - 3;
const { binsPerOctave, leastMs } = evidenceConstants;
/**
 * Bins on either side of the observed ones; durations beyond them count as the outermost. Above, a fault does
 * not move a duration beyond them.
 */
const margin = { below: 8, above: 28 } as const;
/** Density of a bin: that of the bins around it with so many requests, at most four on either side. */
const neighbours = { requests: 3, bins: 4 } as const;
/** Prior of one more request: likeliest at the median, halved or quartered an octave. */
const priorFall = { above: 1, below: 2, most: 64 } as const;
/** Quantiles at which the regions of the baseline's durations end; the last region is beyond. */
const regionEnds = [0.9, 0.97] as const;

const count = faultTemplates.length;

/** Scratch, grown on demand: the baseline's cumulative requests before each bin. */
let upTo = new Float64Array(256);
/** The prior by bins from the median, from -`priorReach` on. */
const priorReach = 1024;
const priors = Float64Array.from({ length: 2 * priorReach + 1 }, (_, i) => priorAt(i - priorReach));

/** The slow path of a baseline that has two: its least duration, and the part of requests that takes it. */
export interface SlowPath {
  readonly fromMs: number;
  readonly share: number;
}

/**
 * Score of each duration for each fault: ln of the ratio of its densities, with the fault and without. The
 * density without a fault is the baseline's, in bins; a fault moves part of it. Sums over requests are a
 * log-likelihood ratio, which exceeds x by chance with a probability of e^-x at most (Wald 1945; Ville 1939).
 *
 * Cost: some 15 µs to make or renew, half a microsecond to weigh a window. Memory: 32 bytes a bin in use, some
 * 4 KB, and 2 KB.
 */
export class EvidenceWeights {
  /** Size in doubles, without the table. */
  static readonly doubles = weightsLayout.regionWeights + 3 * evidenceRegions * count;

  /** Offset in the arena. */
  readonly at: number;
  readonly #scope: ArenaScope;
  /** By bin, a weight of 16 bits for each fault. */
  #table: Allocation;
  /** Undefined where requests take one path. */
  slowPath: SlowPath | undefined;

  /**
   * @param scope in which it allocates.
   * @param at offset in the arena, if the caller has allocated it: `EvidenceWeights.doubles`.
   */
  constructor(baseline: TDigest, scope = memory.scope(), at?: number) {
    this.#scope = scope;
    this.at = at ?? scope.allocate(EvidenceWeights.doubles).offset;
    this.#table = scope.allocate(0);
    this.renew(baseline);
  }

  /** Mean score of a baseline request, by fault: a view, valid until the memory grows. */
  get means(): Float64Array {
    return this.#fields(weightsLayout.means);
  }

  /** Variances of the score, likewise. */
  get variances(): Float64Array {
    return this.#fields(weightsLayout.variances);
  }

  /** Variances within the regions, likewise. */
  get variancesWithin(): Float64Array {
    return this.#fields(weightsLayout.variancesWithin);
  }

  /** Replaces the baseline. */
  renew(baseline: TDigest): void {
    const { centroids, from, size } = baseline;
    const low = binOf(size === 0 ? leastMs : (centroids[from] as number)) - margin.below;
    const last = binOf(size === 0 ? leastMs : (centroids[from + size - 1] as number));
    const bins = last - low + 1 + margin.above;
    const doubles = (bins * count) / 4;
    if (doubles > this.#table.doubles) {
      this.#scope.release(this.#table);
      this.#table = this.#scope.allocate(doubles);
    }
    const density = 2 * weightsKernel.scratch((binsBefore + 3 * bins + 1) / 2) + binsBefore;
    writeDensity(baseline, low, bins, density);
    const path = slowPathOf(upTo, bins);
    this.slowPath = path && { fromMs: startOf(low + path.firstBin), share: path.share };
    writeDensityOfLast(path?.firstBin, bins, density, density + 2 * bins);
    const { ints } = memory;
    const at = 2 * this.at;
    ints[at + weightsLayout.ints.low] = low;
    ints[at + weightsLayout.ints.bins] = bins;
    ints[at + weightsLayout.ints.table] = addressOf(this.#table.offset);
    ints.set(regionBounds(baseline.count, bins), at + weightsLayout.ints.firstOf);
    memory.doubles[this.at + weightsLayout.requests] = baseline.count;
    weightsKernel.weighBins(this.at, density, density + bins, density + 2 * bins);
  }

  /** Writes the scores of a window, by the weights at an offset. */
  static weigh(at: number, window: TDigest, scores: WindowScores): void {
    weightsKernel.weigh(window, at, scores.at);
  }

  /**
   * Writes the last window's scores given how many of its requests lie in each region: the ratio of the
   * densities within them. They exceed x by chance with a probability of e^-x at most, however the number of
   * slow requests varies, as long as the shape of each region stays.
   *
   * @param scores as written by `weigh`.
   */
  static within(at: number, scores: WindowScores, into: WindowScores): void {
    weightsKernel.within(at, scores.at, into.at);
  }

  #fields(field: number): Float64Array {
    return memory.doubles.subarray(this.at + field, this.at + field + count);
  }
}

/** Writes the baseline's density of each bin, which is nowhere 0, and then the observed part of each. */
function writeDensity(
  { centroids, from, size }: TDigest,
  low: number,
  bins: number,
  at: number,
): void {
  const { floats } = memory;
  if (bins >= upTo.length) upTo = new Float64Array(2 * bins);
  floats.fill(0, at - binsBefore, at);
  upTo.fill(0, 0, bins + 1);
  for (let i = from; i < from + size; i++) {
    const bin = binOf(centroids[i] as number) - low + 1;
    upTo[bin] = (upTo[bin] as number) + (centroids[i + size] as number);
  }
  for (let i = 0; i < bins; i++) upTo[i + 1] = (upTo[i + 1] as number) + (upTo[i] as number);
  const total = upTo[bins] as number;
  let median = 0;
  while ((upTo[median] as number) < total / 2) median++;
  median--;
  let sum = 0;
  for (let bin = 0; bin < bins; bin++) {
    let reach = 1;
    while (reach < neighbours.bins && within(bins, bin, reach) < neighbours.requests) reach++;
    const requests = within(bins, bin, reach) / (2 * reach + 1) + priorOf(bin - median);
    floats[at + bin] = requests;
    sum += requests;
  }
  for (let bin = 0; bin < bins; bin++) {
    floats[at + bin] = (floats[at + bin] as number) / sum;
    floats[at + bins + bin] = ((upTo[bin + 1] as number) - (upTo[bin] as number)) / total;
  }
}

/** Writes the density under the last fault: of slower requests, or of a larger part on a slow path. */
function writeDensityOfLast(
  slowFrom: number | undefined,
  bins: number,
  density: number,
  to: number,
): void {
  const { floats } = memory;
  if (slowFrom === undefined) {
    const { octaves } = faultTemplates[slowPathFault] as FaultTemplate;
    const from = density - octaves * binsPerOctave;
    floats.copyWithin(to, from, from + bins);
    return;
  }
  let slow = 0;
  for (let bin = slowFrom; bin < bins; bin++) slow += floats[density + bin] as number;
  for (let bin = 0; bin < bins; bin++) {
    const more = bin < slowFrom ? 0 : slowPathShare / slow;
    floats[to + bin] = (1 - slowPathShare + more) * (floats[density + bin] as number);
  }
}

/** First bin of each region, and the number of bins. A region ends with the bin that reaches its quantile. */
function regionBounds(requests: number, bins: number): number[] {
  let bin = 0;
  const ends = regionEnds.map((quantile) => {
    while (bin < bins && (upTo[bin] as number) < quantile * requests) bin++;
    return bin;
  });
  return [0, ...ends, bins];
}

/** Requests of the bins around one, so many on either side. */
function within(bins: number, bin: number, reach: number): number {
  const above = upTo[Math.min(bins, bin + reach + 1)] as number;
  return above - (upTo[Math.max(0, bin - reach)] as number);
}

/** Requests that the prior adds to a bin so far above the median. */
function priorOf(bins: number): number {
  return Math.abs(bins) <= priorReach ? (priors[bins + priorReach] as number) : priorAt(bins);
}

function priorAt(bins: number): number {
  const away = bins / binsPerOctave;
  const fall = away >= 0 ? away * priorFall.above : -away * priorFall.below;
  return 2 ** -Math.min(fall, priorFall.most) / (2 * binsPerOctave);
}

function binOf(ms: number): number {
  return highWord(Math.max(ms, leastMs)) >>> SHIFT;
}

/** Least duration of a bin, in milliseconds. */
function startOf(bin: number): number {
  const octave = Math.floor(bin / binsPerOctave);
  return 2 ** (octave - 1_023) * (1 + bin / binsPerOctave - octave);
}
