import { StateMemory } from '../baseline/state-memory.ts';
import { saidLayout } from './evidence-kernel.ts';

const memory = StateMemory.shared();

/** What a window says for each fault, where the kernel writes it. */
export class Said {
  /** Its place in `StateMemory`. */
  readonly at = memory.takeFor(this, saidLayout.end);

  /** Sums over its requests. These are views, for as long as the memory does not grow. */
  get sums(): Float64Array {
    return this.#view(saidLayout.sums);
  }

  /** What of that is more than usual. */
  get excess(): Float64Array {
    return this.#view(saidLayout.excess);
  }

  /** The variance that chance has. */
  get variances(): Float64Array {
    return this.#view(saidLayout.variances);
  }

  #view(field: number): Float64Array {
    const at = this.at + field;
    return memory.doubles.subarray(at, at + saidLayout.excess);
  }
}
