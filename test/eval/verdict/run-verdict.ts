import { compareDefaults } from '../../../src/compare/compare-options.ts';
import type { VersionMinute } from '../../../src/compare/compared-minute.ts';
import { inBlocks } from '../../../src/compare/minute-blocks.ts';
import { VersionTest } from '../../../src/compare/version-test.ts';
import { Random } from '../../../src/generate/random.ts';
import { SketchPool, stateCentroids } from '../../../src/sketch/sketch-pool.ts';
import { TDigest } from '../../../src/sketch/t-digest.ts';
import type { DurationTable } from './duration-law.ts';
import { failingShare, type Variation, type VerdictCase } from './verdict-cases.ts';

/** When one pair of versions first failed and first passed, in minutes; undefined where it never did. */
export interface VerdictOutcome {
  readonly failedAfter: number | undefined;
  readonly passedAfter: number | undefined;
}

/** A verdict is asked after each of so many minutes. */
export const askedMinutes = 60;

/** Runs one pair of versions, by a seed. The same seed gives the same outcome. */
export function runVerdict(each: VerdictCase, table: DurationTable, seed: number): VerdictOutcome {
  const { law, variation, change, rates } = each;
  const random = new Random(
    `verdict ${law.name} ${variation.name} ${change.name} ${rates} ${seed}`,
  );
  const traffic = new PairTraffic(each, table, random);
  const test = new VersionTest(compareDefaults);
  const { blockMinutes = 1 } = each;
  let passedAfter: number | undefined;
  for (let minute = 0; minute + blockMinutes <= askedMinutes; minute += blockMinutes) {
    const block = Array.from({ length: blockMinutes }, (_, i) => traffic.minute(minute + i));
    for (const joined of inBlocks(block, blockMinutes)) test.observe(joined);
    if (test.failed !== undefined) return { failedAfter: minute + blockMinutes, passedAfter };
    if (test.passes) passedAfter ??= minute + blockMinutes;
  }
  return { failedAfter: undefined, passedAfter };
}

/** Two versions of a model, minute by minute. */
export class PairTraffic {
  readonly #case: VerdictCase;
  readonly #table: DurationTable;
  readonly #random: Random;
  readonly #own: readonly [OwnVariation, OwnVariation];
  readonly #sketches = new SketchPool();
  readonly #means = new Float64Array(stateCentroids);
  readonly #weights = new Float64Array(stateCentroids);

  constructor(each: VerdictCase, table: DurationTable, random: Random) {
    this.#case = each;
    this.#table = table;
    this.#random = random.split('requests');
    this.#own = [
      new OwnVariation(each.variation, random.split('candidate')),
      new OwnVariation(each.variation, random.split('baseline')),
    ];
  }

  minute(minute: number) {
    const { variation, change, rates } = this.#case;
    const shared = variation.shared?.(minute, this.#random.uniform()) ?? 0;
    const [own, ownOfBaseline] = this.#own;
    const { factor, slowest = 1, failing = failingShare } = change;
    return {
      startMs: minute * 60_000,
      candidate: this.#version(rates[0], shared + own.next(), failing, factor, slowest),
      baseline: this.#version(rates[1], shared + ownOfBaseline.next(), failingShare, 1, 1),
    };
  }

  #version(
    rate: number,
    shift: number,
    failing: number,
    factor: number,
    slowest: number,
  ): VersionMinute {
    const random = this.#random;
    const requests = Math.max(0, Math.round(rate + Math.sqrt(rate) * random.normal()));
    const slowFrom = slowest === 1 ? Number.POSITIVE_INFINITY : Math.log(slowest / (1 - slowest));
    const sketches = this.#sketches;
    sketches.reset();
    sketches.allocate();
    let failed = 0;
    for (let n = 0; n < requests; n++) {
      const uniform = random.uniform();
      const logOdds = Math.log(uniform / (1 - uniform)) - shift;
      const ms = this.#table.msAt(logOdds);
      sketches.add(0, logOdds < slowFrom ? ms * factor : ms);
      if (random.chance(failing)) failed++;
    }
    const size = sketches.centroids(0, this.#means, this.#weights);
    const digest = TDigest.fromCentroids(this.#means, this.#weights, size);
    return { requests, failed, stages: new Map([['total', digest]]) };
  }
}

/** What one version's minutes vary by: independent, or remembered (Ornstein and Uhlenbeck). */
export class OwnVariation {
  readonly #deviation: number;
  readonly #keep: number;
  readonly #random: Random;
  #level: number;

  constructor({ deviation, memoryMinutes = 0 }: Variation, random: Random) {
    this.#deviation = deviation;
    this.#keep = memoryMinutes === 0 ? 0 : Math.exp(-1 / memoryMinutes);
    this.#random = random;
    this.#level = random.normal();
  }

  next(): number {
    const normal = this.#random.normal();
    this.#level = this.#keep * this.#level + Math.sqrt(1 - this.#keep ** 2) * normal;
    return this.#deviation * this.#level;
  }
}
