import { grown } from '../base/grown.ts';
import type { Interner } from './interner.ts';

/** Tags of stages by the ids of their names: a look-up each, and no allocation but for names that are new. */
export class StageTags {
  readonly #stages: Interner;
  readonly #tagOf: (name: string) => number;
  #generation = -1;
  #known = 0;
  #tags = new Int32Array(64);
  /** Bits of all tags. */
  #all = 0;

  /** @param tagOf tag of a name, a bit or 0. */
  constructor(stages: Interner, tagOf: (name: string) => number) {
    this.#stages = stages;
    this.#tagOf = tagOf;
  }

  /** Learns the names that are new. Returns whether any name has a tag. */
  hasAny(): boolean {
    const { generation, size } = this.#stages;
    if (this.#generation !== generation) {
      this.#generation = generation;
      this.#known = 0;
      this.#all = 0;
    }
    if (size > this.#tags.length) this.#tags = grown(this.#tags, size);
    for (; this.#known < size; this.#known++) {
      const tag = this.#tagOf(this.#stages.text(this.#known));
      this.#tags[this.#known] = tag;
      this.#all |= tag;
    }
    return this.#all !== 0;
  }

  /** Tag of an id that `hasAny` has seen. */
  of(id: number): number {
    return this.#tags[id] as number;
  }
}
