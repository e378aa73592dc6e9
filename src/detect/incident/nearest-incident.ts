import { totalStage } from '../../base/dimensions.ts';
import { type AnomalyEvent, unaccounted } from '../../contract/anomaly-event.ts';
import { seriesKey } from '../../series/series-key.ts';
import { concurrentMs, type DetectOptions, stageTableOf } from '../options/detect-options.ts';
import { arePeers } from '../peers/peers.ts';
import type { Incident } from './incident.ts';

/** Factor on the join time for faults that spread, such as a version from region to region. */
const spreadFactor = 6;

/** Stages that name no cause. */
const vagueStages: readonly string[] = [totalStage, unaccounted];

type NearOptions = Pick<DetectOptions, 'window' | 'stages'>;

/**
 * The open incident that an anomaly joins, the nearest in time of several. Within `joinMs` of the lead the
 * same blamed stage suffices, or the same model where the two began together. Later it must be the same
 * stage of the same model, within six times `joinMs` of the last start. It must not be more severe: a critical anomaly pages again. A new
 * series that is as slow as a peer joins the peer's incident while that is open.
 *
 * @param candidates open incidents of its kind.
 */
export function nearestIncident(
  event: AnomalyEvent,
  candidates: readonly Incident[],
  joinMs: number,
  options: NearOptions,
): Incident | undefined {
  const distanceMs = ({ lead }: Incident) => apartMs(lead, event);
  let nearest: Incident | undefined;
  for (const incident of candidates) {
    const joins =
      distanceMs(incident) <= joinMs
        ? incident.anomalies.some((other) => isOfOneCause(other, event, options)) ||
          blamesStageOf(incident, event, options)
        : spreadsTo(incident, event, joinMs, options);
    if (!joins || isBesideOwn(incident, event)) continue;
    if (nearest === undefined || distanceMs(incident) < distanceMs(nearest)) nearest = incident;
  }
  return nearest;
}

/** Time between the starts of two anomalies. */
export function apartMs(a: AnomalyEvent, b: AnomalyEvent): number {
  return Math.abs(Date.parse(a.started_at) - Date.parse(b.started_at));
}

/** Reports whether a series that has found another cause has an anomaly in the incident. */
function isBesideOwn({ openAnomalies }: Incident, event: AnomalyEvent): boolean {
  const key = seriesKey(event);
  return openAnomalies.some((other) => other.id !== event.id && seriesKey(other) === key);
}

/**
 * Reports whether two anomalies of one model, some minutes apart at most, have one cause. A stage that gets
 * slow well after another one has another cause; soon after it, or before it, one may be the cause of the
 * other.
 */
function isOfOneCause(other: AnomalyEvent, event: AnomalyEvent, options: NearOptions): boolean {
  if (other.model !== event.model) return false;
  if (event.kind !== 'tail_shift' || areOfOnePart(other, event, options)) return true;
  if ([other.stage, event.stage].some((stage) => vagueStages.includes(stage))) return true;
  return Date.parse(event.started_at) - Date.parse(other.started_at) <= concurrentMs(options);
}

/** Reports whether the same part of a request is blamed, by itself or by a measure of it. */
function areOfOnePart(a: AnomalyEvent, b: AnomalyEvent, options: NearOptions): boolean {
  return stageTableOf(options).isOnePart(a.stage, b.stage);
}

/** Reports whether the blamed stage is the same, such as a shared feature store; `total` does not count. */
function blamesStageOf({ lead }: Incident, event: AnomalyEvent, options: NearOptions): boolean {
  return !vagueStages.includes(event.stage) && areOfOnePart(lead, event, options);
}

function spreadsTo(
  incident: Incident,
  event: AnomalyEvent,
  joinMs: number,
  options: NearOptions,
): boolean {
  const sameFault = incident.anomalies.filter(
    (other) => other.model === event.model && areOfOnePart(other, event, options),
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
