import { minuteMs } from '../../base/time.ts';
import { durationText } from '../../contract/format.ts';
import type { Comparison } from '../comparison.ts';
import type { CompareInput } from './compare-versions.ts';

/** Longest time without a request in which a version is still taken to be served. */
const longestPauseMs = 5 * 60_000;

/**
 * A version that passed and has no requests in the last complete minutes is not known to be good: its servers may
 * be down. Then the verdict is `inconclusive`. A `fail` stays.
 */
export function servedLately(
  comparison: Comparison,
  { candidate, minutes, untilMs }: Pick<CompareInput, 'candidate' | 'minutes' | 'untilMs'>,
): Comparison {
  if (comparison.verdict !== 'pass' || untilMs === undefined) return comparison;
  const served = minutes.filter((minute) => (minute.candidate?.requests ?? 0) > 0);
  const lastMs = Math.max(...served.map(({ startMs }) => startMs));
  const pauseMs = untilMs - lastMs - minuteMs;
  if (pauseMs <= longestPauseMs) return comparison;
  const reason = `no request of version ${candidate} for ${durationText(pauseMs)}; before that: ${comparison.reason}`;
  return { ...comparison, verdict: 'inconclusive', reason };
}
