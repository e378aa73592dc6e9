import { dimensions } from '../../base/dimensions.ts';
import { seriesKey } from '../../series/series-key.ts';
import type { Series } from '../../series/series-window.ts';

/** Series that are looked for further on, where one is not in its place: so many have had no request. */
const furthest = 8;

interface Known {
  readonly series: Series;
  readonly key: string;
}

/**
 * Keys of the series of each window. Windows have much the same series in the same order, whose keys are not
 * made anew then: to compare the values of its dimensions takes a tenth of the time.
 */
export class SeriesOrder {
  /** Those of the window before, and of this one so far. */
  #before: Known[] = [];
  #now: Known[] = [];
  #at = 0;

  /** Begins a window. */
  begin(): void {
    [this.#before, this.#now] = [this.#now, this.#before];
    this.#now.length = 0;
    this.#at = 0;
  }

  /** The `seriesKey` of the next series of the window. */
  keyOf(series: Series): string {
    const end = Math.min(this.#before.length, this.#at + furthest);
    for (let at = this.#at; at < end; at++) {
      const known = this.#before[at] as Known;
      if (!isSame(known.series, series)) continue;
      this.#at = at + 1;
      this.#now.push(known);
      return known.key;
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
