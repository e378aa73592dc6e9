import { TDigest } from '../sketch/t-digest.ts';
import { mergeBands } from './merge-bands.ts';
import type { Bands, StageSummary } from './series-window.ts';

/** What a stage usually does, merged over the baseline's windows. */
export interface StageReference {
  readonly digest: TDigest;
  readonly bands: Bands;
  readonly bandsMs: Bands;
  readonly windows: number;
  readonly fromMs: number;
  readonly toMs: number;
}

interface Block {
  readonly startMs: number;
  lastEndMs: number;
  windows: number;
  /** What is merged, and what is not yet: merging many at once costs little more than merging one. */
  merged: Merged | undefined;
  waiting: StageSummary[];
}

type Merged = Pick<StageReference, 'digest' | 'bands' | 'bandsMs'>;

/** The past is kept in this many pieces, each merged as it fills; the oldest is dropped whole. */
const blocksPerBaseline = 8;
/** Centroids of a block. The reference, merged from all of them, has the usual hundred. */
const blockCentroids = 64;
/** The merged reference is renewed this often: every window would cost more than it tells. */
export const refreshWindows = 6;

/**
 * The recent past of one stage of one series: windows go in, in order, and a merged reference comes
 * out, of all that had come when it was renewed. Blocks and renewals begin at multiples of their
 * length, so that a detector started anew over the same windows holds the same reference.
 *
 * Memory: nine blocks of one digest of 64 centroids and their bands, and six windows, some 35 KB.
 */
export class StageBaseline {
  readonly #baselineMs: number;
  readonly #windowMs: number;
  readonly #blockMs: number;
  #blocks: Block[] = [];
  #reference: StageReference | undefined;
  #referencePeriod = Number.NaN;

  constructor(baselineMs: number, windowMs: number) {
    this.#baselineMs = baselineMs;
    this.#windowMs = windowMs;
    const windows = Math.max(1, Math.ceil(baselineMs / windowMs / blocksPerBaseline));
    this.#blockMs = windows * windowMs;
  }

  /** Adds a window, later than all before. */
  learn(startMs: number, summary: StageSummary): void {
    const blockStartMs = Math.floor(startMs / this.#blockMs) * this.#blockMs;
    let block = this.#blocks.at(-1);
    if (block?.startMs !== blockStartMs) {
      block = { startMs: blockStartMs, lastEndMs: 0, windows: 0, merged: undefined, waiting: [] };
      this.#blocks.push(block);
    }
    block.waiting.push(summary);
    block.lastEndMs = startMs + this.#windowMs;
    block.windows += 1;
    const keepFromMs = startMs - this.#baselineMs;
    this.#blocks = this.#blocks.filter(({ startMs: at }) => at + this.#blockMs > keepFromMs);
    const period = Math.floor(startMs / (refreshWindows * this.#windowMs));
    if (period !== this.#referencePeriod) this.#reference = undefined;
    this.#referencePeriod = period;
    // Nobody may ask for a while.
    if (block.waiting.length >= refreshWindows) mergeWaiting(block);
  }

  /** Windows held. */
  get windows(): number {
    let windows = 0;
    for (const block of this.#blocks) windows += block.windows;
    return windows;
  }

  /** undefined before the first window. The same object until it is renewed. */
  reference(): StageReference | undefined {
    const first = this.#blocks[0];
    if (first === undefined) return undefined;
    if (this.#reference === undefined) {
      for (const block of this.#blocks) mergeWaiting(block);
      const parts = this.#blocks.flatMap(({ merged }) => merged ?? []);
      this.#reference = {
        digest: TDigest.merge(parts.map(({ digest }) => digest)),
        bands: mergeBands(parts.map(({ bands }) => bands)),
        bandsMs: mergeBands(parts.map(({ bandsMs }) => bandsMs)),
        windows: this.windows,
        fromMs: first.startMs,
        toMs: this.#blocks.at(-1)?.lastEndMs ?? first.lastEndMs,
      };
    }
    return this.#reference;
  }
}

function mergeWaiting(block: Block): void {
  if (block.waiting.length === 0) return;
  const parts: Merged[] = [...(block.merged === undefined ? [] : [block.merged]), ...block.waiting];
  block.merged = {
    digest: TDigest.merge(
      parts.map(({ digest }) => digest),
      blockCentroids,
    ),
    bands: mergeBands(parts.map(({ bands }) => bands)),
    bandsMs: mergeBands(parts.map(({ bandsMs }) => bandsMs)),
  };
  block.waiting = [];
}
