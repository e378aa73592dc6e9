import { ofWorstSeries } from '../../../../src/contract/worst-series.ts';
import type { AnomalyAnswer } from '../../data/answers.ts';
import { lastedText } from '../../format/number.ts';
import { formatTime, type Zone } from '../../format/time.ts';

type Titled = Pick<AnomalyAnswer, 'headline' | 'event'>;

/**
 * "ranker p99 512 ms, 2.1x its baseline, blame features; since 10:17:20, as of 10:19:20", and once it is over
 * "…; 10:17:20 to 10:27:20 (10 min)", in event time, as in messages. Where no end is known it says when that
 * was noticed, which is by the clock.
 */
export function incidentTitle(
  { headline, event }: Titled,
  zone: Zone & { readonly nowMs: number },
): string {
  const timeOf = (at: string) => formatTime(Date.parse(at), zone);
  const { started_at: from, ended_at: to, resolved_at: noticed } = event;
  const { measured_at: asOf } = ofWorstSeries(event);
  const measured = asOf === undefined ? '' : `, as of ${timeOf(asOf)}`;
  if (noticed === null) return `${headline}; since ${timeOf(from)}${measured}`;
  if (to === null) return `${headline}; since ${timeOf(from)}, resolved ${timeOf(noticed)}`;
  return `${headline}; ${timeOf(from)} to ${timeOf(to)} (${lastedText(from, to)})`;
}
