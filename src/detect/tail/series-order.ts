import { dimensions } from '../../base/dimensions.ts';
import { seriesKey } from '../../series/series-key.ts';
import type { Series } from '../../series/series-window.ts';

/** Series of the last window that may be skipped because they had no request in this one. */
const lookAhead = 8;

interface KeyedSeries {
  readonly series: Series;
  readonly key: string;
}

/**
 * Keys of each window's series. Consecutive windows have mostly the same series in the same order. Comparing
 * the dimensions with the last window's takes a tenth of the time of building a key.
 */
export class SeriesOrder {
  /** Series of the last window, and of this one so far. */
  #before: KeyedSeries[] = [];
  #now: KeyedSeries[] = [];
  #index = 0;

  /** Begins a window. */
  begin(): void {
    [this.#before, this.#now] = [this.#now, this.#before];
    this.#now.length = 0;
    this.#index = 0;
  }

  /** Returns the `seriesKey` of the window's next series. */
  keyOf(series: Series): string {
    const end = Math.min(this.#before.length, this.#index + lookAhead);
    for (let index = this.#index; index < end; index++) {
      const entry = this.#before[index] as KeyedSeries;
      if (!isSame(entry.series, series)) continue;
      this.#index = index + 1;
      this.#now.push(entry);
      return entry.key;
    }
    const key = seriesKey(series);
    this.#now.push({ series, key });
    return key;
  }
}

function isSame(one: Series, other: Series): boolean {
  if (one === other) return true;
  for (const dimension of dimensions) if (one[dimension] !== other[dimension]) return false;
  return true;
}
