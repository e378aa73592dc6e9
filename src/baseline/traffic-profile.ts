import type { StateArchive } from '../snapshot/archive.ts';
import { median } from './median.ts';

const dayMs = 86_400_000;
const blockMs = 600_000;
/**
 * A day and a week before are looked at, an hour and a bit to either side: clocks change, people come
 * late.
 */
const daysBefore = [1, 7] as const;
const blocksAround = 7;
const keptBlocks = (8 * dayMs) / blockMs + blocksAround;
/** What it is of late: the median of so many blocks, of which so many must be known, but the newest. */
const recentBlocks = 6;
const fewestRecent = 3;

/** How many requests are foretold, and from what. */
export interface TrafficForecast {
  readonly perSecond: number;
  /** Of the blocks that it is made of. */
  readonly fromMs: number;
  readonly toMs: number;
  /**
   * Whether this time of a day before is known, of which there was traffic to compare with: without it
   * nobody can tell a stop from an evening; and of the same day of the week: without it, from a weekend.
   */
  readonly isKnown: boolean;
  readonly isWeekKnown: boolean;
}

/**
 * How much traffic there is, by blocks of ten minutes, for eight days; and how much is foretold now: the
 * median of the last hour, times what became of such a median at this time a day and a week before, where
 * it fell. So a night is no drop, nor is an office that closes at six, from the second day on.
 *
 * Memory: 9 KB. Cost: some ten microseconds each ten minutes.
 */
export class TrafficProfile {
  /** Requests a second by block, from `#firstBlock` on; NaN where nobody knows. */
  #rates: number[] = [];
  #firstBlock = 0;
  #block = Number.NaN;
  #requests = 0;
  #seconds = 0;
  #forecast: TrafficForecast | undefined;

  /** Length of a block, in milliseconds. */
  static readonly blockMs = blockMs;

  /** Adds a window; windows come in order. What lies between two of them is not known. */
  observe(startMs: number, windowMs: number, requests: number): void {
    const block = Math.floor(startMs / blockMs);
    if (block !== this.#block) {
      this.#close();
      this.#block = block;
      this.#forecast = this.#newForecast(block);
    }
    this.#requests += requests;
    this.#seconds += windowMs / 1000;
  }

  /**
   * Takes a block of a longer past than its windows will tell; blocks come in order. Between two of them, and
   * from the last to `backfillUntil`, there was no request.
   */
  backfill(startMs: number, requests: number): void {
    const block = Math.floor(startMs / blockMs);
    this.backfillUntil(startMs);
    this.#put(block, requests / (blockMs / 1000));
  }

  backfillUntil(endMs: number): void {
    if (this.#rates.length === 0) return;
    const end = Math.floor(endMs / blockMs);
    const next = Math.max(this.#firstBlock + this.#rates.length, end - keptBlocks);
    for (let block = next; block < end; block++) this.#put(block, 0);
  }

  /** undefined before half an hour is known. */
  get forecast(): TrafficForecast | undefined {
    return this.#forecast;
  }

  /** How much less there usually is by now than there was then, by the day before: 1 at most. */
  fadeSince(thenMs: number, nowMs: number): number {
    const around = (ms: number) => {
      const block = Math.floor((ms - dayMs) / blockMs);
      return median([block - 1, block, block + 1].map((each) => this.#rateOf(each)));
    };
    const ratio = around(nowMs) / around(thenMs);
    return Number.isFinite(ratio) ? Math.min(1, ratio) : 1;
  }

  serialize(state: StateArchive): void {
    state.section('traffic profile', 1, () => {
      this.#rates = [...state.numbers(this.#rates)];
      this.#firstBlock = state.number(this.#firstBlock);
      this.#block = state.number(this.#block);
      this.#requests = state.number(this.#requests);
      this.#seconds = state.number(this.#seconds);
      this.#forecast = state.optional(this.#forecast, (forecast) => ({
        perSecond: state.number(forecast?.perSecond ?? 0),
        fromMs: state.number(forecast?.fromMs ?? 0),
        toMs: state.number(forecast?.toMs ?? 0),
        isKnown: state.flag(forecast?.isKnown ?? false),
        isWeekKnown: state.flag(forecast?.isWeekKnown ?? false),
      }));
    });
  }

  #close(): void {
    if (this.#seconds > 0) this.#put(this.#block, this.#requests / this.#seconds);
    this.#requests = 0;
    this.#seconds = 0;
  }

  #put(block: number, perSecond: number): void {
    const last = this.#firstBlock + this.#rates.length - 1;
    if (this.#rates.length === 0 || block - last > keptBlocks) {
      this.#rates.length = 0;
      this.#firstBlock = block;
    }
    const at = block - this.#firstBlock;
    if (at < 0) return;
    while (this.#rates.length < at) this.#rates.push(Number.NaN);
    this.#rates[at] = perSecond;
    while (this.#rates.length > keptBlocks) {
      this.#rates.shift();
      this.#firstBlock += 1;
    }
  }

  #newForecast(block: number): TrafficForecast | undefined {
    const recent = this.#recent(block);
    if (!Number.isFinite(recent)) return undefined;
    let least = 1;
    const known = new Set<number>();
    for (const days of daysBefore) {
      const then = block - (days * dayMs) / blockMs;
      if (Number.isFinite(this.#rateOf(then) / this.#recent(then))) known.add(days);
      for (let each = then - blocksAround; each <= then + blocksAround; each++) {
        const ratio = this.#around(each) / this.#recent(each);
        if (ratio < least) least = ratio;
      }
    }
    const toMs = (block - 1) * blockMs;
    return {
      perSecond: recent * least,
      fromMs: toMs - recentBlocks * blockMs,
      toMs,
      isKnown: known.size > 0,
      isWeekKnown: known.has(7),
    };
  }

  /** The median of the blocks before one, but the newest; NaN where too few are known. */
  #recent(block: number): number {
    const rates: number[] = [];
    for (let back = 2; back <= recentBlocks + 1; back++) {
      const rate = this.#rateOf(block - back);
      if (Number.isFinite(rate)) rates.push(rate);
    }
    return rates.length < fewestRecent ? Number.NaN : median(rates);
  }

  /** Of half an hour: what one block had less by chance is no evening. */
  #around(block: number): number {
    return (this.#rateOf(block - 1) + this.#rateOf(block) + this.#rateOf(block + 1)) / 3;
  }

  #rateOf(block: number): number {
    return this.#rates[block - this.#firstBlock] ?? Number.NaN;
  }
}
