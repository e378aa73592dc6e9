import { freshness, staleness } from '../data/freshness.ts';
import { formatTime } from '../format/time.ts';
import { hrefTo, place } from '../state/place.ts';
import { hasRange, timeForms } from '../state/url.ts';
import { zoneNow } from '../state/zone.ts';
import { rangeName } from './range-name.ts';

/** Says on every page that what it shows is behind, and since when. */
export function StaleNotice() {
  const known = freshness.value;
  if (known === undefined) return null;
  const text = staleness(known, (ms) => formatTime(ms, zoneNow()));
  if (text === undefined) return null;
  return (
    <p class="stale-notice" role="status">
      {text} <a href={hrefTo({ view: 'pipeline' })}>Pipeline</a>
    </p>
  );
}

/** Says which times of the address cannot be read, what is shown instead, and what can be read. */
export function WrongTimes() {
  const { wrong } = place.value;
  const named = Object.entries(wrong).map(([key, text]) => `${key}=${text}`);
  if (named.length === 0) return null;
  const isRange = hasRange(place.value) && (wrong.from ?? wrong.to) !== undefined;
  return (
    <p class="stale-notice" role="alert">
      The address has {named.join(' and ')}, which is no time
      {isRange && `: what is shown is ${rangeName().phrase}`}. A time is {timeForms}.
    </p>
  );
}
