import { totalStage } from '../../base/dimensions.ts';
import type { AnomalyEvent } from '../event/anomaly-event.ts';
import { unaccounted } from '../event/blame.ts';
import { arePeers } from '../peers/peers.ts';
import type { Incident } from './incident.ts';

/** Factor on the join time for faults that spread, such as a version from region to region. */
const spreadFactor = 6;

/**
 * The open incident that an anomaly joins, the nearest in time of several. Within `joinMs` of the lead the
 * same model suffices, or the same blamed stage. Later it must be the same stage of the same model, within
 * six times `joinMs` of the last start. It must not be more severe: a critical anomaly pages again. A new
 * series that is as slow as a peer joins the peer's incident while that is open.
 *
 * @param candidates open incidents of its kind.
 */
export function nearestIncident(
  event: AnomalyEvent,
  candidates: readonly Incident[],
  joinMs: number,
): Incident | undefined {
  const distanceMs = ({ lead }: Incident) => apartMs(lead, event);
  let nearest: Incident | undefined;
  for (const incident of candidates) {
    const joins =
      distanceMs(incident) <= joinMs
        ? incident.anomalies.some(({ model }) => model === event.model) ||
          blamesStageOf(incident, event)
        : spreadsTo(incident, event, joinMs);
    if (!joins) continue;
    if (nearest === undefined || distanceMs(incident) < distanceMs(nearest)) nearest = incident;
  }
  return nearest;
}

/** Time between the starts of two anomalies. */
export function apartMs(a: AnomalyEvent, b: AnomalyEvent): number {
  return Math.abs(Date.parse(a.started_at) - Date.parse(b.started_at));
}

/** Reports whether the blamed stage is the same, such as a shared feature store; `total` does not count. */
function blamesStageOf({ lead }: Incident, { stage }: AnomalyEvent): boolean {
  return stage === lead.stage && stage !== totalStage && stage !== unaccounted;
}

function spreadsTo(incident: Incident, event: AnomalyEvent, joinMs: number): boolean {
  const sameFault = incident.anomalies.filter(
    ({ model, stage }) => model === event.model && stage === event.stage,
  );
  if (sameFault.length === 0) return false;
  if (event.severity === 'critical' && incident.severity !== 'critical') return false;
  if (isSuccessor(incident, event)) return true;
  const startTimesMs = sameFault.map(({ started_at }) => Date.parse(started_at));
  const startedMs = Date.parse(event.started_at);
  return (
    startedMs >= Math.min(...startTimesMs) - joinMs &&
    startedMs <= Math.max(...startTimesMs) + spreadFactor * joinMs
  );
}

/** Reports whether the anomaly is of a new series with a borrowed baseline, whose peer is in the incident. */
function isSuccessor(incident: Incident, event: AnomalyEvent): boolean {
  if (event.evidence.baseline_of === undefined) return false;
  return incident.openAnomalies.some((anomaly) => arePeers(anomaly, event));
}
