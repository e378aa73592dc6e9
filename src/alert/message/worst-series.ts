import type { AnomalyEvent } from '../../detect/event/anomaly-event.ts';
import { seriesKey, seriesOf } from '../../series/series-key.ts';

/**
 * The event with the numbers of its worst series, open ones first: an incident's own are those of the series
 * that opened it. Fields that a member does not list, such as the interval, stay those of that series.
 */
export function ofWorstSeries(event: AnomalyEvent): AnomalyEvent {
  const [worst] = event.members ?? [];
  if (worst === undefined || seriesKey(worst) === seriesKey(event)) return event;
  const { stage, observed_ms, baseline_ms, ratio, rate, measured_stage } = worst;
  const { quantile = event.quantile } = worst;
  return {
    ...event,
    ...seriesOf(worst),
    ...{ stage, quantile, observed_ms, baseline_ms, ratio },
    ...(rate && { rate }),
    blame: [{ stage, excess_ms: observed_ms - baseline_ms, share: 1 }],
    evidence: {
      ...event.evidence,
      measured_stage: measured_stage ?? event.evidence.measured_stage,
    },
  };
}
