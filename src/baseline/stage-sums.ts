import { type Allocation, Arena, type ArenaScope } from '../memory/arena.ts';
import type { StageSummary } from '../series/series-window.ts';
import type { StateArchive } from '../snapshot/archive.ts';

const memory = Arena.shared();

/** Room for so many stages at first: a cache line. */
const firstStages = 8;

/** What requests spend in each stage, added up over windows: a map by stage, whose sums lie side by side. */
export class StageSums {
  readonly #rooms: ArenaScope;
  /** In the order in which they were met, as are their sums. */
  readonly #stages: string[] = [];
  #room: Allocation;

  /** An empty one, which takes its room from there. */
  constructor(rooms: ArenaScope) {
    this.#rooms = rooms;
    this.#room = rooms.allocate(firstStages);
  }

  /** Adds a window, of which stages mostly come in the order of the one before. */
  add(stages: Iterable<Pick<StageSummary, 'stage' | 'sumMs'>>): void {
    let next = 0;
    for (const { stage, sumMs } of stages) {
      const place = this.#stages[next] === stage ? next : this.#placeOf(stage);
      const at = this.#room.offset + place;
      memory.doubles[at] = (memory.doubles[at] as number) + sumMs;
      next = place + 1;
    }
  }

  /** By stage, in the order in which they were met. */
  *entries(): Generator<[stage: string, sumMs: number]> {
    const { offset: at } = this.#room;
    for (const [i, stage] of this.#stages.entries()) {
      yield [stage, memory.doubles[at + i] as number];
    }
  }

  /** Nobody asks for them any more: others may have their room. */
  release(): void {
    this.#rooms.release(this.#room);
  }

  serialize(state: StateArchive): void {
    state.list<[string, number]>(this.entries(), (entry) => {
      const stage = state.text(entry?.[0] ?? '');
      const place = this.#placeOf(stage);
      const sumMs = state.number(entry?.[1] ?? 0);
      memory.doubles[this.#room.offset + place] = sumMs;
      return [stage, sumMs];
    });
  }

  #placeOf(stage: string): number {
    const known = this.#stages.indexOf(stage);
    if (known >= 0) return known;
    const place = this.#stages.push(stage) - 1;
    if (place === this.#room.doubles) this.#grow();
    return place;
  }

  #grow(): void {
    const before = this.#room;
    this.#room = this.#rooms.allocate(2 * before.doubles);
    memory.doubles.copyWithin(this.#room.offset, before.offset, before.offset + before.doubles);
    this.#rooms.release(before);
  }
}
