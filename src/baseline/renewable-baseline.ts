import type { Serializable, StateArchive } from '../snapshot/archive.ts';

/** A baseline, and the candidate that learns the windows kept out of it and replaces it if they persist. */
export class RenewableBaseline<Baseline extends Serializable> {
  readonly #create: () => Baseline;
  #current: Baseline;
  #candidate: Baseline | undefined;

  constructor(create: () => Baseline) {
    this.#create = create;
    this.#current = create();
  }

  get current(): Baseline {
    return this.#current;
  }

  /** Undefined until a window is kept out of the baseline. */
  get candidate(): Baseline | undefined {
    return this.#candidate;
  }

  ensureCandidate(): Baseline {
    this.#candidate ??= this.#create();
    return this.#candidate;
  }

  dropCandidate(): void {
    this.#candidate = undefined;
  }

  /** Replaces the baseline by the candidate, or by an empty one. */
  renew(): void {
    this.#current = this.#candidate ?? this.#create();
    this.#candidate = undefined;
  }

  serialize(state: StateArchive): void {
    this.#current.serialize(state);
    this.#candidate = state.optional(this.#candidate, (candidate = this.#create()) => {
      candidate.serialize(state);
      return candidate;
    });
  }
}
