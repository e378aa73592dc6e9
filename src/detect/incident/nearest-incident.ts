import { totalStage } from '../../base/dimensions.ts';
import type { AnomalyEvent } from '../event/anomaly-event.ts';
import { unaccounted } from '../event/blame.ts';
import { arePeers } from '../peers/peers.ts';
import type { Incident } from './incident.ts';

/** What spreads through a model, a version from region to region, may take so many times as long. */
const spreadFactor = 6;

/**
 * The open incident that an anomaly belongs to, the one nearest in time where there are several. It is near
 * when it began within `joinMs` of what opened the incident. Then the same model suffices, or the same stage
 * to blame in another one. Later it has to be the same stage of the same model, within six times as
 * long of the last one to begin, and no worse than what was told: what is critical pages anew. A new
 * series that is as slow as the one that it replaces, or runs beside, belongs to that one's incident
 * while it is open.
 *
 * @param candidates open incidents of its kind.
 */
export function nearestIncident(
  event: AnomalyEvent,
  candidates: readonly Incident[],
  joinMs: number,
): Incident | undefined {
  const startedMs = Date.parse(event.started_at);
  const apartMs = ({ lead }: Incident) => Math.abs(startedMs - Date.parse(lead.started_at));
  let nearest: Incident | undefined;
  for (const incident of candidates) {
    const joins =
      apartMs(incident) <= joinMs
        ? hasModel(incident, event) || blamesStageOf(incident, event)
        : spreadsTo(incident, event, joinMs);
    if (!joins) continue;
    if (nearest === undefined || apartMs(incident) < apartMs(nearest)) nearest = incident;
  }
  return nearest;
}

function hasModel(incident: Incident, { model }: AnomalyEvent): boolean {
  return incident.anomalies.some((anomaly) => anomaly.model === model);
}

/** A stage that models share: a feature store, a network. `total` is no stage in particular. */
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
  const startsMs = sameFault.map(({ started_at }) => Date.parse(started_at));
  const startedMs = Date.parse(event.started_at);
  return (
    startedMs >= Math.min(...startsMs) - joinMs &&
    startedMs <= Math.max(...startsMs) + spreadFactor * joinMs
  );
}

/** Whether it is of a new series that is compared with what one of the incident was compared with, too. */
function isSuccessor(incident: Incident, event: AnomalyEvent): boolean {
  if (event.evidence.baseline_of === undefined) return false;
  return incident.openAnomalies.some((anomaly) => arePeers(anomaly, event));
}
