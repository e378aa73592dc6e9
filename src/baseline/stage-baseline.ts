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
  digest: TDigest;
  bands: Bands;
  bandsMs: Bands;
}

/** The past is kept in this many pieces, each merged as it fills; the oldest is dropped whole. */
const blocksPerBaseline = 8;
/** Centroids of a block. The reference, merged from all of them, has the usual hundred. */
const blockCentroids = 64;
/** The merged reference is renewed this often: every window would cost more than it tells. */
export const refreshWindows = 6;

/**
 * The recent past of one stage of one series: windows go in, in order, and a merged reference comes
 * out. Blocks and renewals begin at multiples of their length, so that a detector started
 * anew over the same windows holds the same reference.
 *
 * Memory: nine blocks of one digest of 64 centroids and their bands, some 25 KB.
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
    const last = this.#blocks.at(-1);
    const { digest, bands, bandsMs } = summary;
    const lastEndMs = startMs + this.#windowMs;
    if (last?.startMs === blockStartMs) {
      last.digest = TDigest.merge([last.digest, digest], blockCentroids);
      last.bands = mergeBands([last.bands, bands]);
      last.bandsMs = mergeBands([last.bandsMs, bandsMs]);
      last.lastEndMs = lastEndMs;
      last.windows += 1;
    } else {
      this.#blocks.push({ startMs: blockStartMs, lastEndMs, windows: 1, digest, bands, bandsMs });
    }
    const keepFromMs = startMs - this.#baselineMs;
    this.#blocks = this.#blocks.filter((block) => block.startMs + this.#blockMs > keepFromMs);
    const period = Math.floor(startMs / (refreshWindows * this.#windowMs));
    if (period !== this.#referencePeriod) this.#reference = undefined;
    this.#referencePeriod = period;
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
    this.#reference ??= {
      digest: TDigest.merge(this.#blocks.map((block) => block.digest)),
      bands: mergeBands(this.#blocks.map((block) => block.bands)),
      bandsMs: mergeBands(this.#blocks.map((block) => block.bandsMs)),
      windows: this.windows,
      fromMs: first.startMs,
      toMs: this.#blocks.at(-1)?.lastEndMs ?? first.lastEndMs,
    };
    return this.#reference;
  }
}
