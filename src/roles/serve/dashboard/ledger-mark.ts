import type { PartitionProgress } from '../../../sink/windows/window-progress.ts';
import type { WindowBounds } from '../../../views/window-states.ts';
import type { Completeness } from '../../detect/completeness/completeness.ts';

/** What is stored at one moment. */
export interface LedgerMark extends WindowBounds {
  /** Changes with every chunk that is stored. */
  readonly flushedMs: number;
  /** Up to when windows are evaluated; undefined where none is. */
  readonly evaluatedMs: number | undefined;
  /** Start of the first window that is stored; undefined where none is. */
  readonly firstMs: number | undefined;
}

export interface LedgerMarkOptions {
  readonly readProgress: () => Promise<readonly PartitionProgress[]>;
  readonly completeness: () => Promise<Completeness>;
  readonly readEvaluatedMs: () => Promise<number | undefined>;
  readonly readFirstMs: () => Promise<number | undefined>;
  readonly allowedLatenessMs: number;
  readonly elapsedMs: () => number;
}

/** How long one reading serves all questions. */
const keptMs = 1_000;
/** How long the first window that is stored is taken for the first one: older ones come late, if at all. */
const firstKeptMs = 60_000;

/** Reads how far the ledger has come, at most once a second however many ask. */
export class LedgerMarks {
  readonly #options: LedgerMarkOptions;
  #latest: Promise<LedgerMark> | undefined;
  #readMs = Number.NEGATIVE_INFINITY;
  #firstMs: number | undefined;
  #firstReadMs = Number.NEGATIVE_INFINITY;

  constructor(options: LedgerMarkOptions) {
    this.#options = options;
  }

  read(): Promise<LedgerMark> {
    const now = this.#options.elapsedMs();
    if (this.#latest !== undefined && now - this.#readMs < keptMs) return this.#latest;
    this.#readMs = now;
    const latest = this.#read();
    this.#latest = latest;
    latest.catch(() => {
      if (this.#latest === latest) this.#latest = undefined;
    });
    return latest;
  }

  async #first(read: LedgerMarkOptions['readFirstMs']): Promise<number | undefined> {
    const now = this.#options.elapsedMs();
    if (this.#firstMs === undefined || now - this.#firstReadMs >= firstKeptMs) {
      this.#firstMs = await read();
      this.#firstReadMs = now;
    }
    return this.#firstMs;
  }

  /**
   * A window is final when no partition may add to it: each has come so far that it is too late. A partition
   * without any valid event counts for nothing.
   */
  async #read(): Promise<LedgerMark> {
    const { readProgress, completeness, readEvaluatedMs, readFirstMs, allowedLatenessMs } =
      this.#options;
    const [partitions, { completeMs }, evaluatedMs, firstMs] = await Promise.all([
      readProgress(),
      completeness(),
      readEvaluatedMs(),
      this.#first(readFirstMs),
    ]);
    const begun = partitions.filter(({ watermarkMs }) => watermarkMs > 0);
    const reachedMs = Math.min(...begun.map(({ watermarkMs }) => watermarkMs));
    return {
      completeMs,
      evaluatedMs,
      firstMs,
      finalMs: begun.length === 0 ? Number.NEGATIVE_INFINITY : reachedMs - allowedLatenessMs,
      flushedMs: Math.max(0, ...partitions.map(({ flushedMs }) => flushedMs)),
    };
  }
}
