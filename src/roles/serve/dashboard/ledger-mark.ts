import type { PartitionProgress } from '../../../sink/windows/window-progress.ts';
import type { WindowBounds } from '../../../views/window-states.ts';
import type { Completeness } from '../../detect/completeness/completeness.ts';

/** What is stored at one moment. */
export interface LedgerMark extends WindowBounds {
  /** Changes with every chunk that is stored. */
  readonly flushedMs: number;
  /** Up to when windows are evaluated; undefined where none is. */
  readonly evaluatedMs: number | undefined;
}

export interface LedgerMarkOptions {
  readonly readProgress: () => Promise<readonly PartitionProgress[]>;
  readonly completeness: () => Promise<Completeness>;
  readonly readEvaluatedMs: () => Promise<number | undefined>;
  readonly allowedLatenessMs: number;
  readonly elapsedMs: () => number;
}

/** How long one reading serves all questions. */
const keptMs = 1_000;

/** Reads how far the ledger has come, at most once a second however many ask. */
export class LedgerMarks {
  readonly #options: LedgerMarkOptions;
  #latest: Promise<LedgerMark> | undefined;
  #readMs = Number.NEGATIVE_INFINITY;

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

  /**
   * A window is final when no partition may add to it: each has come so far that it is too late. A partition
   * without any valid event counts for nothing.
   */
  async #read(): Promise<LedgerMark> {
    const { readProgress, completeness, readEvaluatedMs, allowedLatenessMs } = this.#options;
    const [partitions, { completeMs }, evaluatedMs] = await Promise.all([
      readProgress(),
      completeness(),
      readEvaluatedMs(),
    ]);
    const begun = partitions.filter(({ watermarkMs }) => watermarkMs > 0);
    const reachedMs = Math.min(...begun.map(({ watermarkMs }) => watermarkMs));
    return {
      completeMs,
      evaluatedMs,
      finalMs: begun.length === 0 ? Number.NEGATIVE_INFINITY : reachedMs - allowedLatenessMs,
      flushedMs: Math.max(0, ...partitions.map(({ flushedMs }) => flushedMs)),
    };
  }
}
