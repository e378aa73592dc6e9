import { Arena } from '../memory/arena.ts';
import { NumberRing } from '../memory/ring.ts';
import { type StateArchive, serializeFields } from '../snapshot/archive.ts';
import { BaselinePeriods, blocksPerBaseline } from './baseline-periods.ts';

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

/** Prior of half a hit in five hundred requests. */
const prior = { hits: 0.5, requests: 500 } as const;

/** Fields of a block. */
const START = 0;
const REQUESTS = 1;
const HITS = 2;
const WINDOWS = 3;
const END = 4;
const fields = 5;

/** Baseline of a rate: counts of windows go in, in order. Memory: nine blocks of five numbers. */
export class RateBaseline {
  readonly #periods: BaselinePeriods;
  /** Blocks within a baseline's length, and the one that is not over. */
  readonly #blocks = new NumberRing(fields, blocksPerBaseline + 1);
  #reference: RateReference | undefined;

  constructor(baselineMs: number, windowMs: number) {
    this.#periods = new BaselinePeriods(baselineMs, windowMs);
  }

  /** Adds a window, later than all before. */
  learn(startMs: number, requests: number, hits: number): void {
    if (this.#periods.renewalOf(startMs) !== this.#referencePeriod) this.#reference = undefined;
    const offset = this.#blockAt(startMs);
    const doubles = memory.doubles;
    doubles[offset + REQUESTS] = (doubles[offset + REQUESTS] as number) + requests;
    doubles[offset + HITS] = (doubles[offset + HITS] as number) + hits;
    doubles[offset + WINDOWS] = (doubles[offset + WINDOWS] as number) + 1;
    doubles[offset + END] = startMs + this.#periods.windowMs;
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
    return this.#periods.renewalOf(endMs - this.#periods.windowMs);
  }

  #blockAt(startMs: number): number {
    const blocks = this.#blocks;
    const doubles = memory.doubles;
    const { baselineMs, blockMs } = this.#periods;
    const blockStartMs = this.#periods.blockOf(startMs);
    if (blocks.length > 0 && doubles[blocks.offsetBack(1) + START] === blockStartMs)
      return blocks.offsetBack(1);
    const keepFromMs = blockStartMs - baselineMs - blockMs;
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
  reference: RateReference | undefined,
): RateReference {
  return serializeFields(state, reference, emptyReference);
}
