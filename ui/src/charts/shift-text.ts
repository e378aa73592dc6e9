import { boundPrefix, formatMs, hollowReason, isHollow, quantileName } from '../format/number.ts';
import { changeOf, type ShiftPoint } from './geometry/shift.ts';

const words = {
  worse: 'B is slower',
  better: 'B is faster',
  unclear: 'no clear difference',
} as const;

/**
 * "p99: +38 % (21 to 57), 310 ms against 225 ms; B is slower; like with like +12 %", and why it is hollow.
 *
 * @param requests of the smaller side.
 * @param hasIntervals false where another test decides: then no percentile has a finding of its own.
 */
export function shiftSentence(
  point: ShiftPoint | undefined,
  requests: number,
  likeWithLike: readonly ShiftPoint[],
  hasIntervals = true,
): string {
  if (point === undefined || point.ratio === null) return '';
  const { q, ratio, ratio_low: low, ratio_high: high } = point;
  const interval = low === null || high === null ? '' : ` (${percent(low)} to ${percent(high)})`;
  const [a, b] = [
    `${boundPrefix(point.a_at_least)}${formatMs(point.a_ms)}`,
    `${boundPrefix(point.b_at_least)}${formatMs(point.b_ms)}`,
  ];
  const like = likeWithLike.find((other) => other.q === q)?.ratio ?? null;
  return [
    `${quantileName(q)}: ${percent(ratio)} %${interval}, ${b} against ${a}`,
    ...(hasIntervals ? [words[changeOf(point)]] : []),
    ...(like === null ? [] : [`like with like ${percent(like)} %`]),
    ...(isHollow(q, requests) ? [hollowReason(q, requests)] : []),
  ].join('; ');
}

function percent(ratio: number): string {
  const value = Math.round((ratio - 1) * 100);
  return value > 0 ? `+${value}` : `${value}`.replace('-', '−');
}
