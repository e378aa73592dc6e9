import { relativeName } from '../format/time.ts';
import { place } from '../state/place.ts';
import { hasRange, paramOf, timeForms } from '../state/url.ts';

/** Says which times of the address cannot be read, what is shown instead, and what can be read. */
export function WrongTimes() {
  const { wrong, params } = place.value;
  const named = Object.entries(wrong).map(([key, text]) => `${key}=${text}`);
  if (named.length === 0) return null;
  const from = paramOf(params, 'from') ?? '';
  const isRange = hasRange(place.value) && (wrong.from ?? wrong.to) !== undefined;
  const shown = from.startsWith('-') ? `the ${relativeName(from)}` : 'another range';
  return (
    <p class="stale-notice" role="alert">
      The address has {named.join(' and ')}, which is no time
      {isRange && ` : what is shown is ${shown}`.replace(' :', ':')}. A time is {timeForms}.
    </p>
  );
}
