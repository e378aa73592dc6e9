import { Arena } from '../memory/arena.ts';
import { NumberRing } from '../memory/ring.ts';
import type { StateArchive } from '../snapshot/archive.ts';

const memory = Arena.shared();

/** Baseline rate of some kind of request (failed, say), and the requests that it is known from. */
export interface RateReference {
  /** Above 0 and below 1, even without any hit. */
  readonly rate: number;
  readonly requests: number;
  readonly windows: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Blocks of a baseline; the oldest is dropped as a whole. */
const blocksPerBaseline = 8;
/** Windows between renewals of the reference: a minute at 10 s. */
const refreshWindows = 6;
/** Prior of half a hit in five hundred requests. */
const prior = { hits: 0.5, requests: 500 } as const;

/** Fields of a block. */
const START = 0;
const REQUESTS = 1;
const HITS = 2;
const WINDOWS = 3;
const END = 4;
const fields = 5;

/**
 * Baseline of a rate: counts of windows go in, in order. Blocks begin at multiples of their length, so that a
 * restarted detector that reads the same windows has the same reference.
 *
 * Memory: nine blocks of five numbers.
 */
export class RateBaseline {
  readonly #baselineMs: number;
  readonly #windowMs: number;
  readonly #blockMs: number;
  /** Blocks within a baseline's length, and the one that is not over. */
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
    const offset = this.#blockAt(startMs);
    const doubles = memory.doubles;
    doubles[offset + REQUESTS] = (doubles[offset + REQUESTS] as number) + requests;
    doubles[offset + HITS] = (doubles[offset + HITS] as number) + hits;
    doubles[offset + WINDOWS] = (doubles[offset + WINDOWS] as number) + 1;
    doubles[offset + END] = startMs + this.#windowMs;
  }

  /** Reference: undefined before the first window, and the same object until renewed. */
  reference(): RateReference | undefined {
    if (this.#reference === undefined && this.#blocks.length > 0) this.#reference = this.#renewed();
    return this.#reference;
  }

  serialize(state: StateArchive): void {
    state.section('rate baseline', 1, () => {
      this.#blocks.serializeEach(state, (offset) => {
        const doubles = memory.doubles;
        for (let i = offset; i < offset + fields; i++)
          doubles[i] = state.number(doubles[i] as number);
      });
      this.#reference = state.optional(this.#reference, (reference) =>
        serializeRateReference(state, reference),
      );
      state.number(this.#referencePeriod);
    });
  }

  #renewed(): RateReference {
    const doubles = memory.doubles;
    let [requests, hits, windows] = [0, 0, 0];
    for (let n = this.#blocks.length; n > 0; n--) {
      const offset = this.#blocks.offsetBack(n);
      requests += doubles[offset + REQUESTS] as number;
      hits += doubles[offset + HITS] as number;
      windows += doubles[offset + WINDOWS] as number;
    }
    const rate = Math.min(0.999, (hits + prior.hits) / (requests + prior.requests));
    const fromMs = doubles[this.#blocks.offsetBack(this.#blocks.length) + START] as number;
    const toMs = doubles[this.#blocks.offsetBack(1) + END] as number;
    return { rate, requests, windows, fromMs, toMs };
  }

  /** Renewal period of the last window; NaN before the first. */
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
    const doubles = memory.doubles;
    const blockStartMs = Math.floor(startMs / this.#blockMs) * this.#blockMs;
    if (blocks.length > 0 && doubles[blocks.offsetBack(1) + START] === blockStartMs)
      return blocks.offsetBack(1);
    const keepFromMs = blockStartMs - this.#baselineMs - this.#blockMs;
    while (
      blocks.length > 0 &&
      (doubles[blocks.offsetBack(blocks.length) + START] as number) <= keepFromMs
    ) {
      blocks.dropOldest();
    }
    const offset = blocks.push();
    doubles.fill(0, offset, offset + fields);
    doubles[offset + START] = blockStartMs;
    return offset;
  }
}

const emptyReference: RateReference = { rate: 0, requests: 0, windows: 0, fromMs: 0, toMs: 0 };

export function serializeRateReference(
  state: StateArchive,
  reference: RateReference = emptyReference,
): RateReference {
  return {
    rate: state.number(reference.rate),
    requests: state.number(reference.requests),
    windows: state.number(reference.windows),
    fromMs: state.number(reference.fromMs),
    toMs: state.number(reference.toMs),
  };
}
