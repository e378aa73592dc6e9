import { decimal, formatCount, formatPerSecond, formatShare, plural } from '../format/number.ts';
import { stepText } from '../format/time.ts';
import { type RateLine, type RateMeasure, requestsOfShare } from './geometry/rate.ts';

const words = { failed: 'failed', cold: 'cold starts', per_second: 'requests' } as const;

/** "4.8 %", "51/s". */
export function formatRate(measure: RateMeasure, value: number | null | undefined): string {
  return measure === 'per_second' ? formatPerSecond(value) : formatShare(value);
}

/** The same for an axis, which has one unit: "51/s", "0.2/s". */
export function rateTick(measure: RateMeasure, value: number): string {
  return measure === 'per_second' ? `${decimal(value)}/s` : formatShare(value);
}

/** "25 Nov 10:20 to 10:25: 4.8 % failed, 24 of 500 requests; baseline 0.2 %". */
export function rateSentence(line: RateLine, step: number, utc: boolean): string {
  const { measure, baseline } = line;
  const at = stepText(line.grid, step, { utc });
  const [requests, count] = [line.requests[step] ?? 0, line.counts[step] ?? 0];
  const [state, value] = [line.states[step], line.values[step] ?? null];
  if (value === null) {
    if (requests > 0) return `${at}: ${plural(requests, 'request')} so far; ${state}`;
    return `${at}: ${state === 'open' ? 'not stored yet' : 'no requests'}`;
  }
  const isShare = measure !== 'per_second';
  const of = isShare
    ? `${formatCount(count)} of ${plural(requests, 'request')}`
    : plural(requests, 'request');
  return [
    `${at}: ${formatRate(measure, value)}${isShare ? ` ${words[measure]}` : ''}, ${of}`,
    ...(line.thin[step] === true ? [`few requests: a share needs ${requestsOfShare}`] : []),
    ...(baseline === null ? [] : [`baseline ${formatRate(measure, baseline)}`]),
    ...(state === 'final' ? [] : [state]),
  ].join('; ');
}
