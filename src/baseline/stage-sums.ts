import { type Allocation, Arena, type ArenaScope } from '../memory/arena.ts';
import type { StageSummary } from '../series/series-window.ts';
import type { StateArchive } from '../snapshot/archive.ts';

const memory = Arena.shared();

/** Stages allocated at first: a cache line. */
const firstStages = 8;

/** Milliseconds of each stage, added up over windows: a map by stage whose sums are adjacent. */
export class StageSums {
  readonly #scope: ArenaScope;
  /** Stages in order of first sight, as are their sums. */
  readonly #stages: string[] = [];
  #allocation: Allocation;

  constructor(scope: ArenaScope) {
    this.#scope = scope;
    this.#allocation = scope.allocate(firstStages);
  }

  /** Adds a window; its stages mostly come in the order of the one before. */
  add(stages: Iterable<Pick<StageSummary, 'stage' | 'sumMs'>>): void {
    let next = 0;
    for (const { stage, sumMs } of stages) {
      const index = this.#stages[next] === stage ? next : this.#indexOf(stage);
      const offset = this.#allocation.offset + index;
      memory.doubles[offset] = (memory.doubles[offset] as number) + sumMs;
      next = index + 1;
    }
  }

  /** Sums by stage, in order of first sight. */
  *entries(): Generator<[stage: string, sumMs: number]> {
    const { offset } = this.#allocation;
    for (const [i, stage] of this.#stages.entries()) {
      yield [stage, memory.doubles[offset + i] as number];
    }
  }

  release(): void {
    this.#scope.release(this.#allocation);
  }

  serialize(state: StateArchive): void {
    state.list<[string, number]>(this.entries(), (entry) => {
      const stage = state.text(entry?.[0] ?? '');
      const index = this.#indexOf(stage);
      const sumMs = state.number(entry?.[1] ?? 0);
      memory.doubles[this.#allocation.offset + index] = sumMs;
      return [stage, sumMs];
    });
  }

  #indexOf(stage: string): number {
    const known = this.#stages.indexOf(stage);
    if (known >= 0) return known;
    const index = this.#stages.push(stage) - 1;
    if (index === this.#allocation.doubles) this.#grow();
    return index;
  }

  #grow(): void {
    const former = this.#allocation;
    this.#allocation = this.#scope.allocate(2 * former.doubles);
    memory.doubles.copyWithin(
      this.#allocation.offset,
      former.offset,
      former.offset + former.doubles,
    );
    this.#scope.release(former);
  }
}
