import { freshness, staleness } from '../data/freshness.ts';
import { formatTime } from '../format/time.ts';
import { nowMs } from '../state/now.ts';
import { hrefTo } from '../state/place.ts';
import { utc } from '../state/zone.ts';

/** Says on every page that what it shows is behind, and since when. */
export function StaleNotice() {
  const known = freshness.value;
  if (known === undefined) return null;
  const text = staleness(known, (ms) => formatTime(ms, { utc: utc.value, nowMs: nowMs() }));
  if (text === undefined) return null;
  return (
    <p class="stale-notice" role="status">
      {text} <a href={hrefTo({ view: 'pipeline' })}>Pipeline</a>
    </p>
  );
}
