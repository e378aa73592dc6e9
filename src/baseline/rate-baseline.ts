import { Arena } from '../memory/arena.ts';
import { NumberRing } from '../memory/ring.ts';
import type { StateArchive } from '../snapshot/archive.ts';

const memory = Arena.shared();

/** What part of requests usually is of some sort (fails, say), and of how many that is known. */
export interface RateReference {
  /** Above 0 and below 1, even where none was seen. */
  readonly rate: number;
  readonly requests: number;
  readonly windows: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** The past is kept in this many pieces; the oldest is dropped whole. */
const blocksPerBaseline = 8;
/** The reference is renewed after so many windows: a minute, at the usual 10 s. */
const refreshWindows = 6;
/** Before any request: half a hit in five hundred. */
const prior = { hits: 0.5, requests: 500 } as const;

/** What is kept of a piece. */
const START = 0;
const REQUESTS = 1;
const HITS = 2;
const WINDOWS = 3;
const END = 4;
const fields = 5;

/**
 * The recent past of a rate: counts of windows go in, in order. Blocks begin at multiples of their
 * length, so that a detector started anew over the same windows holds the same reference.
 *
 * Memory: nine blocks of five numbers.
 */
export class RateBaseline {
  readonly #baselineMs: number;
  readonly #windowMs: number;
  readonly #blockMs: number;
  /** No more of them are within a baseline of the end of the last one, which is not over. */
  readonly #blocks = new NumberRing(fields, blocksPerBaseline + 1);
  #reference: RateReference | undefined;

  constructor(baselineMs: number, windowMs: number) {
    this.#baselineMs = baselineMs;
    this.#windowMs = windowMs;
    const windows = Math.ceil(baselineMs / windowMs / blocksPerBaseline);
    this.#blockMs = Math.max(1, windows) * windowMs;
  }

  /** Adds a window, later than all before. */
  learn(startMs: number, requests: number, hits: number): void {
    if (this.#periodOf(startMs) !== this.#referencePeriod) this.#reference = undefined;
    const at = this.#blockAt(startMs);
    const all = memory.doubles;
    all[at + REQUESTS] = (all[at + REQUESTS] as number) + requests;
    all[at + HITS] = (all[at + HITS] as number) + hits;
    all[at + WINDOWS] = (all[at + WINDOWS] as number) + 1;
    all[at + END] = startMs + this.#windowMs;
  }

  /** undefined before the first window; the same object until it is renewed. */
  reference(): RateReference | undefined {
    if (this.#reference === undefined && this.#blocks.length > 0) this.#reference = this.#renewed();
    return this.#reference;
  }

  serialize(state: StateArchive): void {
    state.section('rate baseline', 1, () => {
      this.#blocks.serializeEach(state, (at) => {
        const all = memory.doubles;
        for (let i = at; i < at + fields; i++) all[i] = state.number(all[i] as number);
      });
      this.#reference = state.optional(this.#reference, (reference) =>
        serializeRateReference(state, reference),
      );
      state.number(this.#referencePeriod);
    });
  }

  #renewed(): RateReference {
    const all = memory.doubles;
    let [requests, hits, windows] = [0, 0, 0];
    for (let n = this.#blocks.length; n > 0; n--) {
      const at = this.#blocks.offsetBack(n);
      requests += all[at + REQUESTS] as number;
      hits += all[at + HITS] as number;
      windows += all[at + WINDOWS] as number;
    }
    const rate = Math.min(0.999, (hits + prior.hits) / (requests + prior.requests));
    const fromMs = all[this.#blocks.offsetBack(this.#blocks.length) + START] as number;
    const toMs = all[this.#blocks.offsetBack(1) + END] as number;
    return { rate, requests, windows, fromMs, toMs };
  }

  /** That of the last window; NaN before any. */
  get #referencePeriod(): number {
    if (this.#blocks.length === 0) return Number.NaN;
    const endMs = memory.doubles[this.#blocks.offsetBack(1) + END] as number;
    return this.#periodOf(endMs - this.#windowMs);
  }

  #periodOf(startMs: number): number {
    return Math.floor(startMs / (refreshWindows * this.#windowMs));
  }

  #blockAt(startMs: number): number {
    const blocks = this.#blocks;
    const all = memory.doubles;
    const blockStartMs = Math.floor(startMs / this.#blockMs) * this.#blockMs;
    if (blocks.length > 0 && all[blocks.offsetBack(1) + START] === blockStartMs)
      return blocks.offsetBack(1);
    const keepFromMs = blockStartMs - this.#baselineMs - this.#blockMs;
    while (
      blocks.length > 0 &&
      (all[blocks.offsetBack(blocks.length) + START] as number) <= keepFromMs
    ) {
      blocks.dropOldest();
    }
    const at = blocks.push();
    all.fill(0, at, at + fields);
    all[at + START] = blockStartMs;
    return at;
  }
}

const nothing: RateReference = { rate: 0, requests: 0, windows: 0, fromMs: 0, toMs: 0 };

export function serializeRateReference(
  state: StateArchive,
  reference: RateReference = nothing,
): RateReference {
  return {
    rate: state.number(reference.rate),
    requests: state.number(reference.requests),
    windows: state.number(reference.windows),
    fromMs: state.number(reference.fromMs),
    toMs: state.number(reference.toMs),
  };
}
