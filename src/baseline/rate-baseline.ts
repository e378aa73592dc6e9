import { carryRateReference } from './carry-rate-reference.ts';
import type { StateArchive } from './state-archive.ts';

/** What part of requests usually is of some sort (fails, say), and of how many that is known. */
export interface RateReference {
  /** Above 0 and below 1, even where none was seen. */
  readonly rate: number;
  readonly requests: number;
  readonly windows: number;
  readonly fromMs: number;
  readonly toMs: number;
}

interface Block {
  readonly startMs: number;
  requests: number;
  hits: number;
  windows: number;
  lastEndMs: number;
}

/** The past is kept in this many pieces; the oldest is dropped whole. */
const blocksPerBaseline = 8;
/** The reference is renewed after so many windows: a minute, at the usual 10 s. */
const refreshWindows = 6;
/** Before any request: half a hit in five hundred. */
const prior = { hits: 0.5, requests: 500 } as const;

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
  #blocks: Block[] = [];
  #reference: RateReference | undefined;
  #referencePeriod = Number.NaN;

  constructor(baselineMs: number, windowMs: number) {
    this.#baselineMs = baselineMs;
    this.#windowMs = windowMs;
    const windows = Math.ceil(baselineMs / windowMs / blocksPerBaseline);
    this.#blockMs = Math.max(1, windows) * windowMs;
  }

  /** Adds a window, later than all before. */
  learn(startMs: number, requests: number, hits: number): void {
    const block = this.#blockAt(startMs);
    block.requests += requests;
    block.hits += hits;
    block.windows += 1;
    block.lastEndMs = startMs + this.#windowMs;
    const period = Math.floor(startMs / (refreshWindows * this.#windowMs));
    if (period !== this.#referencePeriod) this.#reference = undefined;
    this.#referencePeriod = period;
  }

  /** undefined before the first window; the same object until it is renewed. */
  reference(): RateReference | undefined {
    const first = this.#blocks[0];
    const last = this.#blocks.at(-1);
    if (first === undefined || last === undefined) return undefined;
    if (this.#reference === undefined) {
      let [requests, hits, windows] = [0, 0, 0];
      for (const block of this.#blocks) {
        requests += block.requests;
        hits += block.hits;
        windows += block.windows;
      }
      const rate = Math.min(0.999, (hits + prior.hits) / (requests + prior.requests));
      const [fromMs, toMs] = [first.startMs, last.lastEndMs];
      this.#reference = { rate, requests, windows, fromMs, toMs };
    }
    return this.#reference;
  }

  carry(state: StateArchive): void {
    state.section('rate baseline', 1, () => {
      this.#blocks = state.list(this.#blocks, (block) => ({
        startMs: state.number(block?.startMs ?? 0),
        requests: state.number(block?.requests ?? 0),
        hits: state.number(block?.hits ?? 0),
        windows: state.number(block?.windows ?? 0),
        lastEndMs: state.number(block?.lastEndMs ?? 0),
      }));
      this.#reference = state.optional(this.#reference, (reference) =>
        carryRateReference(state, reference),
      );
      this.#referencePeriod = state.number(this.#referencePeriod);
    });
  }

  #blockAt(startMs: number): Block {
    const blockStartMs = Math.floor(startMs / this.#blockMs) * this.#blockMs;
    const last = this.#blocks.at(-1);
    if (last?.startMs === blockStartMs) return last;
    const block = { startMs: blockStartMs, requests: 0, hits: 0, windows: 0, lastEndMs: 0 };
    const keepFromMs = blockStartMs - this.#baselineMs;
    this.#blocks = this.#blocks.filter(({ startMs: at }) => at + this.#blockMs > keepFromMs);
    this.#blocks.push(block);
    return block;
  }
}
