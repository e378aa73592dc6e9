import { configSchema } from '../../../src/config/schema.ts';
import type { AnomalyEvent } from '../../../src/detect/anomaly-event.ts';
import { Detector } from '../../../src/detect/detector.ts';
import { windowMs, windowsPerDay } from '../null-families.ts';
import { pagesPerWeek } from '../run-series.ts';
import { faultOf } from './fault-of.ts';
import { incidentTraffic } from './incident-traffic.ts';

export interface IncidentOutcome {
  readonly told: readonly AnomalyEvent[];
  /** Furthest that the baseline's p99 was from where the incident found it, as a part, while it lasted. */
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
  const found = new Map<string, number>();
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
    for (const stage of stages) {
      const ms = detector.reference(series, stage)?.digest.quantile(q) ?? Number.NaN;
      if (window === from - 1) found.set(stage, ms);
      if (window >= from && window < to) {
        moved = Math.max(moved, Math.abs(ms / (found.get(stage) ?? Number.NaN) - 1));
      }
      if (window === againAt) {
        const calmMs = calm.reference(series, stage)?.digest.quantile(q) ?? Number.NaN;
        movedAfter = Math.max(movedAfter, Math.abs(ms / calmMs - 1));
      }
    }
  }
  return { told, moved, movedAfter };
}
