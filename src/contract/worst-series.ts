import { seriesKey, seriesOf } from '../series/series-key.ts';
import type { AnomalyEvent, ScopeMember } from './anomaly-event.ts';

/**
 * The event with everything that was measured in its most affected series, the open one with the most
 * affected requests: an incident's own measurements are those of the series that opened it. Events call it
 * the worst. Messages, pages and the console show these numbers, so that all of them speak of one series at
 * one moment.
 */
export function ofWorstSeries(event: AnomalyEvent): AnomalyEvent {
  const [member] = event.members ?? [];
  if (member === undefined) return event;
  if (event.worst !== undefined) return { ...ofMember(event, member), ...event.worst };
  // Events of earlier versions list nothing more of a member.
  if (seriesKey(member) === seriesKey(event)) return event;
  const bottleneck = member.stage === event.stage ? event.bottleneck : 'unknown';
  return { ...ofMember(event, member), blame: [], bottleneck };
}

/**
 * The event that its end is worded by: what is now the baseline is so in the series that was resolved
 * last, as the summary says.
 */
export function ofEndedSeries(event: AnomalyEvent): AnomalyEvent {
  if (event.resolution !== 'rebaselined') return event;
  const at = (member: ScopeMember) => member.resolved_at ?? '';
  const [first, ...others] = event.members ?? [];
  if (first === undefined) return event;
  const last = others.reduce((best, member) => (at(member) > at(best) ? member : best), first);
  return ofMember(event, last);
}

function ofMember(event: AnomalyEvent, member: ScopeMember): AnomalyEvent {
  const { stage, observed_ms, baseline_ms, ratio, rate, measured_stage } = member;
  const { measured_at, peak } = member;
  const { effects: _, measured_at: __, peak: ___, ...shared } = event;
  return {
    ...shared,
    ...seriesOf(member),
    ...{ stage, quantile: member.quantile ?? event.quantile, observed_ms, baseline_ms, ratio },
    ...(rate && { rate }),
    ...(measured_at !== undefined && { measured_at }),
    ...(peak && { peak }),
    evidence: {
      ...event.evidence,
      measured_stage: measured_stage ?? event.evidence.measured_stage,
    },
  };
}
