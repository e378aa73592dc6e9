import type { Clock } from '../../../base/clock.ts';
import { minuteMs } from '../../../base/time.ts';
import type { PartitionProgress } from '../../../sink/windows/window-progress.ts';
import type { WindowBounds } from '../../../views/window-states.ts';
import type { Completeness } from '../../detect/completeness/completeness.ts';
import { deadlineMs, late } from '../http/query-limiter.ts';

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
  readonly clock: Pick<Clock, 'elapsedMs' | 'sleep'>;
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

  /** @throws Problem 503 once a reading takes longer than an answer may. */
  async read(): Promise<LedgerProgress> {
    const ageMs =
      this.#options.clock.elapsedMs() - (this.#known?.asOfMs ?? Number.NEGATIVE_INFINITY);
    if (ageMs >= intervalMs) this.#reading ??= this.#readNext();
    if (this.#known !== undefined && ageMs < oldestMs) return this.#known.progress;
    return this.#reading as Promise<LedgerProgress>;
  }

  #readNext(): Promise<LedgerProgress> {
    const asOfMs = this.#options.clock.elapsedMs();
    const reading = this.#read();
    // The next one begins when this one has ended, however late.
    reading.then(
      (progress) => {
        this.#known = { progress, asOfMs };
        this.#reading = undefined;
      },
      () => {
        this.#reading = undefined;
      },
    );
    const bounded = this.#bounded(reading);
    bounded.catch(() => undefined);
    return bounded;
  }

  async #bounded(reading: Promise<LedgerProgress>): Promise<LedgerProgress> {
    const isOver = new AbortController();
    const waited = this.#options.clock.sleep(deadlineMs, isOver.signal);
    const refused = waited.then(() => Promise.reject<never>(late()));
    try {
      return await Promise.race([reading, refused]);
    } finally {
      isOver.abort();
    }
  }

  async #first(read: LedgerProgressOptions['readFirstMs']): Promise<number | undefined> {
    const now = this.#options.clock.elapsedMs();
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
