import { BorrowedBaseline, type DimensionValue } from '../../baseline/borrowed-baseline.ts';
import type { SeriesBaseline } from '../../baseline/series-baseline.ts';
import type { SeriesReference } from '../../baseline/series-reference.ts';
import type { Series, SeriesWindow } from '../../series/series-window.ts';
import { wholeRequest } from '../../series/whole-request.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import type { DetectOptions } from '../options/detect-options.ts';

/** Requests after which a new series has shown its faults, in multiples of `min_requests`. */
const requestsToSettle = 3;

/**
 * Baseline of other series, with which a new one is compared for a baseline's length. So a version that is
 * slow from its first request is compared with its predecessor.
 */
export class BaselineLoan {
  readonly #options: DetectOptions;
  /** The lenders' baselines; undefined without a loan. */
  borrowed: BorrowedBaseline | undefined;
  /** Requests since the loan began. */
  #requests = 0;

  constructor(options: DetectOptions) {
    this.#options = options;
  }

  /** Baseline that a series is compared with: the borrowed one, or its own. */
  reference(own: SeriesBaseline): SeriesReference {
    return this.borrowed ?? own;
  }

  /** Values in which the lenders differ from a series; empty without a loan. */
  differencesTo(series: Series): readonly DimensionValue[] {
    return this.borrowed?.differencesTo(series) ?? [];
  }

  /**
   * Baseline that the series lends to others: its own, once it has enough windows and is not anomalous.
   *
   * @param isOpen whether it has an open anomaly: a borrower with one lends nothing.
   */
  lends(own: SeriesBaseline, isOpen: boolean): SeriesReference | undefined {
    if (own.windows < this.#options.min_baseline_windows) return undefined;
    if (this.borrowed === undefined) return own;
    return this.#hasShown && !isOpen ? own : undefined;
  }

  /** Observes an evaluated window; true if the loan ends, as the series has its own baseline. */
  endsWith(window: SeriesWindow, own: SeriesBaseline, isOpen: boolean): boolean {
    if (this.borrowed === undefined) return false;
    this.#requests += wholeRequest(window)?.requests ?? 0;
    const { baseline, min_baseline_windows } = this.#options;
    const isKnown = own.windows >= min_baseline_windows && this.#hasShown;
    return !isOpen && isKnown && window.windowStartMs - own.firstMs >= baseline;
  }

  serialize(state: StateArchive): void {
    state.section('baseline loan', 1, () => {
      this.borrowed = state.optional(this.borrowed, (one) =>
        BorrowedBaseline.serialize(state, one),
      );
      this.#requests = state.number(this.#requests);
    });
  }

  get #hasShown(): boolean {
    return this.#requests >= requestsToSettle * this.#options.min_requests;
  }
}
