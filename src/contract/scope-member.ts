import { seriesOf } from '../series/series-key.ts';
import type { AnomalyEvent, ScopeMember } from './anomaly-event.ts';

/** An incident's entry for the anomaly of one of its series. */
export function scopeMember(event: AnomalyEvent, id = event.id): ScopeMember {
  const { stage, severity, observed_ms, baseline_ms, ratio, rate, quantile } = event;
  const { measured_at, peak, started_at, ended_at, resolved_at } = event;
  return {
    id,
    ...seriesOf(event),
    ...{ stage, severity, observed_ms, baseline_ms, ratio, rate },
    ...{ measured_stage: event.evidence.measured_stage, quantile },
    ...(measured_at !== undefined && { measured_at }),
    ...(peak && { peak }),
    ...{ started_at, ended_at, resolved_at },
  };
}
