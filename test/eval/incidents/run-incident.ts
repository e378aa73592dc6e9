import type { SeriesWindow } from '../../../src/baseline/series-window.ts';
import { configSchema } from '../../../src/config/schema.ts';
import type { AnomalyEvent } from '../../../src/detect/anomaly-event.ts';
import { Detector } from '../../../src/detect/detector.ts';
import { TDigest } from '../../../src/sketch/t-digest.ts';
import { windowMs, windowsPerDay } from '../null-families.ts';
import { pagesPerWeek } from '../run-series.ts';
import { faultOf } from './fault-of.ts';
import { incidentTraffic } from './incident-traffic.ts';

export interface IncidentOutcome {
  readonly told: readonly AnomalyEvent[];
  /**
   * Furthest that the baseline's p99 was, while it lasted, beyond where the incident found it and what the
   * hour before has made of it, of which the last minutes are learnt late; as a part.
   */
  readonly moved: number;
  /** How far it was, two hours after the end, from that of the same traffic without an incident. */
  readonly movedAfter: number;
}

const q = 0.99;
/** A day of quiet, a day of it, and then three hours; it is looked at again after two of these. */
const from = windowsPerDay;
const to = 2 * windowsPerDay;
const againAt = to + windowsPerDay / 12;
const windows = to + windowsPerDay / 8;

/** An incident of a day, beside the same traffic without it. */
export function runIncident(family: string, seed: number, kind: string): IncidentOutcome {
  const fault = faultOf(kind, from, to);
  const { detect } = configSchema.parse({ detect: { page_budget_per_week: pagesPerWeek } });
  const [detector, calm] = [new Detector(detect), new Detector(detect)];
  const calmTraffic = incidentTraffic({ family, seed, windows, faults: [] });
  const told: AnomalyEvent[] = [];
  const stages = ['total', fault.stage];
  const found = new Map<string, readonly number[]>();
  const hourBefore: SeriesWindow[] = [];
  let moved = 0;
  let movedAfter = 0;
  for (const at of incidentTraffic({ family, seed, windows, faults: [fault] })) {
    const { window, windowStartMs, present } = at;
    const nowMs = windowStartMs + windowMs + 2_000;
    const events = detector.observe(present, nowMs, windowStartMs);
    if (window >= from) told.push(...events);
    const usual = calmTraffic.next().value?.present ?? [];
    calm.observe(usual, nowMs, windowStartMs);
    const series = present[0]?.series;
    if (series === undefined) continue;
    if (window >= from - windowsPerDay / 24 && window < from) hourBefore.push(...present);
    for (const stage of stages) {
      const ms = detector.reference(series, stage)?.digest.quantile(q) ?? Number.NaN;
      if (window === from - 1) found.set(stage, [ms, quantileOf(hourBefore, stage)]);
      if (window >= from && window < to) {
        moved = Math.max(moved, partBeyond(ms, found.get(stage) ?? []));
      }
      if (window === againAt) {
        const calmMs = calm.reference(series, stage)?.digest.quantile(q) ?? Number.NaN;
        movedAfter = Math.max(movedAfter, Math.abs(ms / calmMs - 1));
      }
    }
  }
  return { told, moved, movedAfter };
}

function quantileOf(windows: readonly SeriesWindow[], stage: string): number {
  const digests = windows.flatMap(({ stages }) => stages.get(stage)?.digest ?? []);
  return TDigest.merge(digests).quantile(q);
}

/** How far it is below or above all of them, as a part. */
function partBeyond(ms: number, all: readonly number[]): number {
  return Math.max(0, 1 - ms / Math.min(...all), ms / Math.max(...all) - 1);
}
