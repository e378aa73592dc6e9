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
  /** Time in which these requests came. */
  readonly spanMs: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Prior of half a hit in five hundred requests. */
const prior = { hits: 0.5, requests: 500 } as const;
/** Memory of the baseline over days: the weight of a window falls to e^-1 in this time. */
const memoryMs = 2 * 86_400_000;
const nothing = { requests: 0, hits: 0, windows: 0, spanMs: 0, fromMs: 0 };

/** Fields of a block. */
const START = 0;
const REQUESTS = 1;
const HITS = 2;
const WINDOWS = 3;
const END = 4;
const fields = 5;

/**
 * Baseline of a rate: counts of windows go in, in order. It is that of a baseline's length, or of the last
 * days where that holds fewer requests than the prior: few requests need more time to be known.
 *
 * Memory: nine blocks of five numbers, and the counts of the days.
 */
export class RateBaseline {
  readonly #periods: BaselinePeriods;
  /** Blocks within a baseline's length, and the one that is not over. */
  readonly #blocks = new NumberRing(fields, blocksPerBaseline + 1);
  /** Counts of the last days, which fade. */
  #days = { ...nothing };
  #reference: RateReference | undefined;

  constructor(baselineMs: number, windowMs: number) {
    this.#periods = new BaselinePeriods(baselineMs, windowMs);
  }

  /** Adds a window, later than all before. */
  learn(startMs: number, requests: number, hits: number): void {
    if (this.#periods.renewalOf(startMs) !== this.#referencePeriod) this.#reference = undefined;
    const lastEndMs = this.#endMs;
    const offset = this.#blockAt(startMs);
    const doubles = memory.doubles;
    doubles[offset + REQUESTS] = (doubles[offset + REQUESTS] as number) + requests;
    doubles[offset + HITS] = (doubles[offset + HITS] as number) + hits;
    doubles[offset + WINDOWS] = (doubles[offset + WINDOWS] as number) + 1;
    this.#learnDays(startMs, requests, hits, lastEndMs);
    doubles[offset + END] = startMs + this.#periods.windowMs;
  }

  /** Reference: undefined before the first window, and the same object until renewed. */
  reference(): RateReference | undefined {
    if (this.#reference === undefined && this.#blocks.length > 0) this.#reference = this.#renewed();
    return this.#reference;
  }

  serialize(state: StateArchive): void {
    state.section('rate baseline', 2, () => {
      this.#days = serializeFields(state, this.#days, nothing);
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
    const toMs = this.#endMs;
    if (requests < prior.requests && this.#days.requests > requests) {
      return daysReference(this.#days, toMs);
    }
    const fromMs = doubles[this.#blocks.offsetBack(this.#blocks.length) + START] as number;
    return {
      rate: rateOf({ requests, hits }),
      requests,
      windows,
      spanMs: toMs - fromMs,
      fromMs,
      toMs,
    };
  }

  /** End of the last window; NaN before the first. */
  get #endMs(): number {
    if (this.#blocks.length === 0) return Number.NaN;
    return memory.doubles[this.#blocks.offsetBack(1) + END] as number;
  }

  /** Renewal period of the last window; NaN before the first. */
  get #referencePeriod(): number {
    return this.#periods.renewalOf(this.#endMs - this.#periods.windowMs);
  }

  #learnDays(startMs: number, requests: number, hits: number, lastEndMs: number): void {
    const days = this.#days;
    const endMs = startMs + this.#periods.windowMs;
    if (days.windows === 0) days.fromMs = startMs;
    const passedMs = endMs - (Number.isNaN(lastEndMs) ? startMs : lastEndMs);
    const keep = Math.exp(-passedMs / memoryMs);
    days.requests = days.requests * keep + requests;
    days.hits = days.hits * keep + hits;
    days.windows = days.windows * keep + 1;
    days.spanMs = days.spanMs * keep + passedMs;
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

function daysReference(days: Readonly<typeof nothing>, toMs: number): RateReference {
  const { requests, spanMs } = days;
  const fromMs = Math.max(days.fromMs, toMs - memoryMs);
  return { rate: rateOf(days), requests, windows: Math.round(days.windows), spanMs, fromMs, toMs };
}

function rateOf({ requests, hits }: { readonly requests: number; readonly hits: number }): number {
  return Math.min(0.999, (hits + prior.hits) / (requests + prior.requests));
}

const emptyReference: RateReference = {
  rate: 0,
  requests: 0,
  windows: 0,
  spanMs: 0,
  fromMs: 0,
  toMs: 0,
};

export function serializeRateReference(
  state: StateArchive,
  reference: RateReference | undefined,
): RateReference {
  return serializeFields(state, reference, emptyReference);
}
