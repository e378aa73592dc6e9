import { BorrowedBaseline, type DimensionValue } from '../../baseline/borrowed-baseline.ts';
import type { SeriesBaseline } from '../../baseline/series-baseline.ts';
import type { SeriesReference } from '../../baseline/series-reference.ts';
import type { Series, SeriesWindow } from '../../series/series-window.ts';
import { wholeRequest } from '../../series/whole-request.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import type { DetectOptions } from '../options/detect-options.ts';

/** So many times `min_requests` a new series must have had until it has shown what is wrong with it. */
const requestsToSettle = 3;

/**
 * The past of other series with which a new one is compared until it was seen for a baseline's length. So a version
 * that is slow from its first request on is held against the one before it.
 */
export class BaselineLoan {
  readonly #options: DetectOptions;
  #borrowed: BorrowedBaseline | undefined;
  /** Requests since it began. */
  #requests = 0;

  constructor(options: DetectOptions) {
    this.#options = options;
  }

  /** Undefined while there is none. */
  get borrowed(): BorrowedBaseline | undefined {
    return this.#borrowed;
  }

  /** What a series with this past of its own is compared with. */
  reference(own: SeriesBaseline): SeriesReference {
    return this.#borrowed ?? own;
  }

  /** Values in which those that lend it differ from a series; none without a loan. */
  differencesTo(series: Series): readonly DimensionValue[] {
    return this.#borrowed?.differencesTo(series) ?? [];
  }

  begin(borrowed: BorrowedBaseline): void {
    this.#borrowed = borrowed;
  }

  end(): void {
    this.#borrowed = undefined;
  }

  /**
   * What the series lends to another one: its own past, once it has one and nothing is wrong with it.
   *
   * @param isOpen whether it has an open anomaly: of one that has a loan it is not known then what is right.
   */
  lends(own: SeriesBaseline, isOpen: boolean): SeriesReference | undefined {
    if (own.windows < this.#options.min_baseline_windows) return undefined;
    if (this.#borrowed === undefined) return own;
    return this.#hasShown && !isOpen ? own : undefined;
  }

  /** Whether it ends with a window that was judged, as the series has a past of its own by then. */
  endsWith(window: SeriesWindow, own: SeriesBaseline, isOpen: boolean): boolean {
    if (this.#borrowed === undefined) return false;
    this.#requests += wholeRequest(window)?.requests ?? 0;
    const { baseline, min_baseline_windows } = this.#options;
    const isKnown = own.windows >= min_baseline_windows && this.#hasShown;
    return !isOpen && isKnown && window.windowStartMs - own.firstMs >= baseline;
  }

  serialize(state: StateArchive): void {
    state.section('baseline loan', 1, () => {
      this.#borrowed = state.optional(this.#borrowed, (one) =>
        BorrowedBaseline.serialize(state, one),
      );
      this.#requests = state.number(this.#requests);
    });
  }

  get #hasShown(): boolean {
    return this.#requests >= requestsToSettle * this.#options.min_requests;
  }
}
