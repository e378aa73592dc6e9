import { type Allocation, Arena, type ArenaScope, addressOf } from '../../../memory/arena.ts';
import { highWord } from '../../../sketch/high-word.ts';
import type { TDigest } from '../../../sketch/t-digest.ts';
import { type SlowPath, slowPathOf } from '../slow-path.ts';
import { evidenceConstants } from './evidence-constants.ts';
import { binsBefore, evidenceRegions, weightsLayout } from './evidence-layout.ts';
import {
  type FaultTemplate,
  faultTemplates,
  slowPathFault,
  slowPathShare,
} from './fault-templates.ts';
import { WeightsKernel } from './weights-kernel.ts';
import type { WindowScores } from './window-scores.ts';

const kernel = WeightsKernel.shared();
const memory = Arena.shared();

/** Bins are an eighth of an octave: exponent and the top 3 bits of the mantissa. */
const SHIFT = 20 - 3;
const { binsPerOctave, leastMs } = evidenceConstants;
/**
 * Bins on either side of what the baseline has seen; what lies beyond counts as the outermost. Above, so many that
 * it is beyond what a fault moves there, too.
 */
const margin = { below: 8, above: 28 } as const;
/** A bin is as dense as those around it that hold so many requests, four to either side at most. */
const neighbours = { requests: 3, bins: 4 } as const;
/** One more request is taken to lie anywhere, less likely by the octave: half above the median. */
const priorFall = { above: 1, below: 2, most: 64 } as const;
/** Regions of the baseline's durations end at these quantiles: up to the first, between them, and beyond. */
const regionEnds = [0.9, 0.97] as const;
const regions = evidenceRegions;

const count = faultTemplates.length;

/** Scratch, grown by need: by bin of a baseline its requests up to there. */
let upTo = new Float64Array(256);
/** The prior by bins above the median, from so many below on. */
const priorReach = 1024;
const priors = Float64Array.from({ length: 2 * priorReach + 1 }, (_, i) => priorAt(i - priorReach));

/**
 * What each duration says for each fault, against nothing being wrong: ln of the ratio of its densities,
 * with the fault and without. The density without a fault is the baseline's, in bins; a fault moves part of it.
 * Sums of it over requests are a log-likelihood ratio, so that it exceeds x by chance with a probability
 * of e^-x at most (Wald 1945; Ville 1939).
 *
 * Making or renewing one takes some 15 µs, weighing a window half a microsecond, by the kernel. Memory: 32 bytes a
 * bin in use, some 4 KB, and 2 KB.
 */
export class EvidenceWeights {
  /** Where it is kept. */
  readonly at: number;
  readonly #rooms: ArenaScope;
  /** By bin, a weight for each fault: of 16 bits. */
  #table: Allocation;
  #low = 0;
  #bins = 0;
  #slowPath: SlowPath | undefined;
  /** First bin of each region, and one behind the last. */
  readonly #firstOf = new Int32Array(regions + 1);

  /**
   * @param rooms from which it takes what it needs.
   * @param at where it is kept, where somebody else has room for it: `EvidenceWeights.doubles`.
   */
  constructor(baseline: TDigest, rooms = memory.scope(), at?: number) {
    this.#rooms = rooms;
    this.at = at ?? rooms.allocate(EvidenceWeights.doubles).offset;
    this.#table = rooms.allocate(0);
    this.renew(baseline);
  }

  /** What one takes, beside its table. */
  static readonly doubles = weightsLayout.regionWeights + 3 * regions * count;

  /** Mean weight of a baseline request, by fault: a view, for as long as the memory does not grow. */
  get means(): Float64Array {
    return this.#fields(weightsLayout.means);
  }

  /** Variances of it, likewise. */
  get variances(): Float64Array {
    return this.#fields(weightsLayout.variances);
  }

  /** The same within regions. */
  get variancesWithin(): Float64Array {
    return this.#fields(weightsLayout.variancesWithin);
  }

  /** Makes it what it would be if it were made of this baseline. */
  renew(baseline: TDigest): void {
    const { centroids, from, size } = baseline;
    const first = binOf(size === 0 ? leastMs : (centroids[from] as number));
    const last = binOf(size === 0 ? leastMs : (centroids[from + size - 1] as number));
    this.#low = first - margin.below;
    this.#bins = last - first + 1 + margin.below + margin.above;
    const doubles = (this.#bins * count) / 4;
    if (doubles > this.#table.doubles) {
      this.#rooms.release(this.#table);
      this.#table = this.#rooms.allocate(doubles);
    }
    const density = 2 * kernel.scratch((binsBefore + 3 * this.#bins + 1) / 2) + binsBefore;
    this.#measureDensity(baseline, density);
    this.#placeRegions(baseline.count);
    this.#slowPath = slowPathOf(upTo, this.#bins);
    this.#measureLast(density, density + 2 * this.#bins);
    const { low, bins, table, firstOf } = weightsLayout.ints;
    const { ints } = memory;
    const at = 2 * this.at;
    ints[at + low] = this.#low;
    ints[at + bins] = this.#bins;
    ints[at + table] = addressOf(this.#table.offset);
    ints.set(this.#firstOf, at + firstOf);
    memory.doubles[this.at + weightsLayout.requests] = baseline.count;
    kernel.weighBins(this.at, density, density + this.#bins, density + 2 * this.#bins);
  }

  /** The slow path of the baseline, if it has two: from so long on, and the part of requests that takes it. */
  get slowPath(): { readonly fromMs: number; readonly share: number } | undefined {
    if (this.#slowPath === undefined) return undefined;
    const { firstBin, share } = this.#slowPath;
    return { fromMs: startOf(this.#low + firstBin), share };
  }

  /** Adds up what a window's requests say, for each fault, by the weights that are kept there. */
  static weigh(at: number, window: TDigest, scores: WindowScores): void {
    kernel.weigh(window, at, scores.at);
  }

  /**
   * What of the last window is left when it is given how many of its requests lie in each region: the ratio of
   * the densities within them. However the parts of slow and of other requests swing, it exceeds x by
   * chance with a probability of e^-x at most, as long as each keeps its shape.
   *
   * @param said what `weigh` gave.
   */
  static within(at: number, scores: WindowScores, into: WindowScores): void {
    kernel.within(at, scores.at, into.at);
  }

  /**
   * Puts the baseline's density in each bin, which is nowhere 0, to a place, and the part that was seen
   * there behind it.
   */
  #measureDensity({ centroids, from, size }: TDigest, at: number): void {
    const { floats } = memory;
    const bins = this.#bins;
    if (bins >= upTo.length) upTo = new Float64Array(2 * bins);
    floats.fill(0, at - binsBefore, at);
    upTo.fill(0, 0, bins + 1);
    for (let i = from; i < from + size; i++) {
      const bin = binOf(centroids[i] as number) - this.#low + 1;
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

  /**
   * Puts the density of requests under the last fault to a place: of all of them, slower; or, where there are two
   * paths, of those of which some more take the slow one.
   */
  #measureLast(density: number, to: number): void {
    const { floats } = memory;
    const bins = this.#bins;
    if (this.#slowPath === undefined) {
      const { octaves } = faultTemplates[slowPathFault] as FaultTemplate;
      const from = density - octaves * binsPerOctave;
      floats.copyWithin(to, from, from + bins);
      return;
    }
    const { firstBin } = this.#slowPath;
    let slow = 0;
    for (let bin = firstBin; bin < bins; bin++) slow += floats[density + bin] as number;
    for (let bin = 0; bin < bins; bin++) {
      const more = bin < firstBin ? 0 : slowPathShare / slow;
      floats[to + bin] = (1 - slowPathShare + more) * (floats[density + bin] as number);
    }
  }

  /** A region ends with the bin that reaches its quantile. */
  #placeRegions(total: number): void {
    let bin = 0;
    regionEnds.forEach((quantile, region) => {
      while (bin < this.#bins && (upTo[bin] as number) < quantile * total) bin++;
      this.#firstOf[region + 1] = bin;
    });
    this.#firstOf[regions] = this.#bins;
  }

  #fields(field: number): Float64Array {
    return memory.doubles.subarray(this.at + field, this.at + field + count);
  }
}

/** Requests of the bins around one, so many to either side, by the scratch. */
function within(bins: number, bin: number, reach: number): number {
  const above = upTo[Math.min(bins, bin + reach + 1)] as number;
  return above - (upTo[Math.max(0, bin - reach)] as number);
}

/** What one more request adds to a bin so far above the median. */
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

/** The least duration of a bin, in milliseconds. */
function startOf(bin: number): number {
  const octave = Math.floor(bin / binsPerOctave);
  return 2 ** (octave - 1_023) * (1 + bin / binsPerOctave - octave);
}
