import { dimensions } from '../base/dimensions.ts';
import { seriesKey } from '../series/series-key.ts';
import type { Series, SeriesWindow } from '../series/series-window.ts';

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
  #last: readonly KeyedSeries[] = [];

  /** Returns the `seriesKey` of each series of the next window. */
  keysOf(windows: readonly Pick<SeriesWindow, 'series'>[]): string[] {
    const last = this.#last;
    let next = 0;
    this.#last = windows.map(({ series }) => {
      const end = Math.min(last.length, next + lookAhead);
      for (let i = next; i < end; i++) {
        const known = last[i] as KeyedSeries;
        if (!isSame(known.series, series)) continue;
        next = i + 1;
        return known;
      }
      return { series, key: seriesKey(series) };
    });
    return this.#last.map(({ key }) => key);
  }
}

function isSame(one: Series, other: Series): boolean {
  return (
    one === other ||
    (one.attributes === other.attributes &&
      dimensions.every((dimension) => one[dimension] === other[dimension]))
  );
}
