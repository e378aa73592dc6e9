import { durationText } from '../detect/event/format.ts';
import type { CompareInput } from './compare-versions.ts';
import type { Comparison } from './comparison.ts';

/** Longest time without a request in which a version is still taken to be served. */
const longestPauseMs = 5 * 60_000;

/**
 * A version that passed and gets no requests any more is not known to be good: its servers may be down. Then the
 * verdict is `inconclusive`. A `fail` stays.
 */
export function servedLately(
  comparison: Comparison,
  { candidate, minutes }: Pick<CompareInput, 'candidate' | 'minutes'>,
  nowMs: number,
): Comparison {
  if (comparison.verdict !== 'pass') return comparison;
  const served = minutes.filter((minute) => (minute.candidate?.requests ?? 0) > 0);
  const lastMs = Math.max(...served.map(({ startMs }) => startMs));
  const pauseMs = nowMs - lastMs - 60_000;
  if (pauseMs <= longestPauseMs) return comparison;
  const reason = `no request of version ${candidate} for ${durationText(pauseMs)}; before that: ${comparison.reason}`;
  return { ...comparison, verdict: 'inconclusive', reason };
}
