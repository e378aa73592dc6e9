import { Arena } from '../../../memory/arena.ts';
import { scoresLayout } from './evidence-layout.ts';

const memory = Arena.shared();

/** What a window says for each fault, where the kernel writes it. */
export class WindowScores {
  /** Its place in the arena. */
  readonly at = memory.allocateFor(this, scoresLayout.end);

  /** Sums over its requests. These are views, for as long as the memory does not grow. */
  get sums(): Float64Array {
    return this.#view(scoresLayout.sums);
  }

  /** Excess of that over the baseline. */
  get excess(): Float64Array {
    return this.#view(scoresLayout.excess);
  }

  /** The variance that chance has. */
  get variances(): Float64Array {
    return this.#view(scoresLayout.variances);
  }

  /** Windows in which there is evidence for the fault that was found to be the clearest. */
  get run(): number {
    return memory.doubles[this.at + scoresLayout.run] as number;
  }

  /** How much there is for it. */
  get sum(): number {
    return memory.doubles[this.at + scoresLayout.sum] as number;
  }

  /** The same, less what the baseline's own noise may have made of it. */
  get score(): number {
    return memory.doubles[this.at + scoresLayout.score] as number;
  }

  /** What it was divided by. */
  get varianceInflation(): number {
    return memory.doubles[this.at + scoresLayout.varianceInflation] as number;
  }

  #view(field: number): Float64Array {
    const at = this.at + field;
    return memory.doubles.subarray(at, at + scoresLayout.excess);
  }
}
