import { minuteMs } from '../../../base/time.ts';
import type { PartitionProgress } from '../../../sink/windows/window-progress.ts';
import type { WindowBounds } from '../../../views/window-states.ts';
import type { Completeness } from '../../detect/completeness/completeness.ts';

/** The state of what is stored at one moment. */
export interface LedgerProgress extends WindowBounds {
  /** Changes with every chunk that is stored. */
  readonly flushedMs: number;
  /** Up to when windows are evaluated; undefined where none is. */
  readonly evaluatedMs: number | undefined;
  /** Start of the first window that is stored; undefined where none is. */
  readonly firstMs: number | undefined;
}

export interface LedgerProgressOptions {
  readonly readProgress: () => Promise<readonly PartitionProgress[]>;
  readonly completeness: () => Promise<Completeness>;
  readonly readEvaluatedMs: () => Promise<number | undefined>;
  readonly readFirstMs: () => Promise<number | undefined>;
  readonly allowedLatenessMs: number;
  readonly elapsedMs: () => number;
}

/** Interval of readings while somebody asks. */
const intervalMs = 1_000;
/**
 * Greatest age of a state while the next one is read: ClickHouse may be busy, and every question needs one.
 */
const oldestMs = 3_000;
/** Time for which the first window that is stored stays the first one: older ones come late, if at all. */
const firstKeptMs = minuteMs;

interface Known {
  readonly progress: LedgerProgress;
  /** Start of its reading. */
  readonly asOfMs: number;
}

/**
 * Reads how far the ledger has come, at most once a second however many ask. Nobody waits for it who can have
 * one that was read a moment ago.
 */
export class LedgerProgressReader {
  readonly #options: LedgerProgressOptions;
  #known: Known | undefined;
  #reading: Promise<LedgerProgress> | undefined;
  #firstMs: number | undefined;
  #firstReadMs = Number.NEGATIVE_INFINITY;

  constructor(options: LedgerProgressOptions) {
    this.#options = options;
  }

  async read(): Promise<LedgerProgress> {
    const ageMs = this.#options.elapsedMs() - (this.#known?.asOfMs ?? Number.NEGATIVE_INFINITY);
    if (ageMs >= intervalMs) this.#reading ??= this.#readNext();
    if (this.#known !== undefined && ageMs < oldestMs) return this.#known.progress;
    return this.#reading as Promise<LedgerProgress>;
  }

  #readNext(): Promise<LedgerProgress> {
    const asOfMs = this.#options.elapsedMs();
    const reading = this.#read();
    reading.then(
      (progress) => {
        this.#known = { progress, asOfMs };
        this.#reading = undefined;
      },
      () => {
        this.#reading = undefined;
      },
    );
    return reading;
  }

  async #first(read: LedgerProgressOptions['readFirstMs']): Promise<number | undefined> {
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
  async #read(): Promise<LedgerProgress> {
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
