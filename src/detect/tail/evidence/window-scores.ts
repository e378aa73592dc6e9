import { Arena } from '../../../memory/arena.ts';
import { scoresLayout } from './evidence-layout.ts';

const memory = Arena.shared();

/** Scores of a window for each fault, as the kernels write them. Arrays are views, valid until the memory grows. */
export class WindowScores {
  /** Offset in the arena. */
  readonly at = memory.allocateFor(this, scoresLayout.end);

  /** Sums over its requests. */
  get sums(): Float64Array {
    return this.#view(scoresLayout.sums);
  }

  /** Excess of the sums over the baseline's prediction. */
  get excess(): Float64Array {
    return this.#view(scoresLayout.excess);
  }

  /** Variances of the sums by chance. */
  get variances(): Float64Array {
    return this.#view(scoresLayout.variances);
  }

  /** Windows since the evidence began, for the fault with most of it. */
  get run(): number {
    return memory.doubles[this.at + scoresLayout.run] as number;
  }

  /** Evidence for this fault. */
  get sum(): number {
    return memory.doubles[this.at + scoresLayout.sum] as number;
  }

  /** The same, reduced by the baseline's own noise. */
  get score(): number {
    return memory.doubles[this.at + scoresLayout.score] as number;
  }

  /** Divisor of its evidence. */
  get varianceInflation(): number {
    return memory.doubles[this.at + scoresLayout.varianceInflation] as number;
  }

  #view(field: number): Float64Array {
    const at = this.at + field;
    return memory.doubles.subarray(at, at + scoresLayout.excess);
  }
}
