import { evidenceConstants } from '../../src/detect/tail/evidence/evidence-constants.ts';
import { faultTemplates } from '../../src/detect/tail/evidence/fault-templates.ts';

const {
  stationaryRatio,
  leastFall,
  medianOfChance,
  maxVarianceRatio,
  overFall,
  overShare,
  peakScore,
} = evidenceConstants;
const count = faultTemplates.length;
const filled = (value: number) => Array.from({ length: count }, () => value);

/** A plain version of the evidence kernel, one fault after the other, for a zero forecast. */
export class PlainEvidence {
  readonly sums = filled(0);
  readonly starts = filled(0);
  readonly dispersions = filled(4);
  readonly last = filled(0);
  readonly #highest = filled(0);
  readonly #clearest = filled(0);
  #learnt = 0;

  add(startMs: number, scores: ArrayLike<number>): number {
    for (let t = 0; t < count; t++) {
      const gain = (scores[t] as number) / this.varianceInflation(t);
      const before = this.sums[t] as number;
      if (before <= 0) {
        this.starts[t] = startMs;
        this.#highest[t] = 0;
        this.#clearest[t] = 0;
      }
      this.sums[t] = Math.max(0, before + gain);
      this.#highest[t] = Math.max(this.#highest[t] as number, before + gain);
      this.#clearest[t] = Math.max(this.#clearest[t] as number, gain);
      this.last[t] = gain;
    }
    const clearest = this.#highest.indexOf(Math.max(...this.#highest));
    if (this.#isOver(clearest)) this.sums.fill(0);
    for (let t = 0; t < count; t++) if (this.#isOver(t)) this.sums[t] = 0;
    return this.sums.lastIndexOf(Math.max(...this.sums));
  }

  rest(t: number): number {
    return (this.sums[t] as number) - (this.#clearest[t] as number);
  }

  varianceInflation(t: number): number {
    const spread = 2 > stationaryRatio ? (2 * medianOfChance) / medianOfChance : 1;
    return (this.dispersions[t] as number) * spread;
  }

  learn(excess: ArrayLike<number>, variances: ArrayLike<number>): void {
    const weight = 1 / (++this.#learnt + 12);
    for (let t = 0; t < count; t++) {
      const [variance, baseline] = [variances[t] as number, this.dispersions[t] as number];
      if (!(variance > 0)) continue;
      const square = Math.min((excess[t] as number) ** 2 / variance, maxVarianceRatio * baseline);
      this.dispersions[t] = Math.max(1, baseline + weight * (square - baseline));
    }
  }

  #isOver(t: number): boolean {
    const highest = this.#highest[t] as number;
    const least = Math.max(Math.min(overShare * highest, highest - leastFall), highest - overFall);
    return highest > peakScore && (this.sums[t] as number) < least;
  }
}
