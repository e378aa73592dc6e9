import { formatAs, formatRange, relativeName } from '../format/time.ts';
import { nowMs } from '../state/now.ts';
import { firstDataMs, isLive, place } from '../state/place.ts';
import { paramOf, rangeOf } from '../state/url.ts';
import { zone, zoneNow } from '../state/zone.ts';

/** A page's name for its range. */
export interface RangeName {
  /** `last 6 h`, or the absolute range in the zone of the page. */
  readonly text: string;
  /** The reason for its start; empty where that was asked for. */
  readonly why: string;
  /** The same as the object of a sentence: `the last 6 h`. */
  readonly phrase: string;
}

/** The range of the page, as its picker and its sentences name it. */
export function rangeName(): RangeName {
  const { params } = place.value;
  const from = paramOf(params, 'from') ?? '';
  const to = paramOf(params, 'to') ?? 'now';
  if (isLive.value && to === 'now') {
    const fromMs = firstDataMs.value;
    const text = relativeName(from);
    if (fromMs === undefined) return { text, why: '', phrase: `the ${text}` };
    const since = `since ${formatAs(fromMs, 'time', zone.value)}`;
    const why = ', the first data';
    return { text: since, why, phrase: `the time ${since}${why}` };
  }
  const text = isLive.value
    ? `${from} to ${to}`
    : formatRange(rangeOf(place.value, nowMs()), zoneNow());
  return { text, why: '', phrase: text };
}
