import { configSchema } from '../../../src/config/schema.ts';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { Detector } from '../../../src/detect/detector.ts';
import { pagesPerWeek } from '../judge-series.ts';
import { windowMs, windowsPerDay } from '../null-families.ts';
import { faultOf } from './fault-of.ts';
import { incidentTraffic } from './incident-traffic.ts';

const windowsPerMinute = 60_000 / windowMs;
/** On for two minutes and off for two, for an hour, after a day without faults; then three hours more. */
const flap = {
  from: windowsPerDay,
  length: 60 * windowsPerMinute,
  half: 2 * windowsPerMinute,
  after: 180 * windowsPerMinute,
} as const;

/** Returns all events of a fault that comes and goes for an hour. */
export function runFlap(family: string, seed: number, kind: string): AnomalyEvent[] {
  const faults = Array.from({ length: flap.length / flap.half / 2 }, (_, i) => {
    const from = flap.from + 2 * i * flap.half;
    return faultOf(kind, from, from + flap.half);
  });
  const windows = flap.from + flap.length + flap.after;
  const { detect } = configSchema.parse({ detect: { page_budget_per_week: pagesPerWeek } });
  const detector = new Detector(detect);
  const emitted: AnomalyEvent[] = [];
  for (const at of incidentTraffic({ family, seed, windows, faults })) {
    const nowMs = at.windowStartMs + windowMs + 2_000;
    const events = detector.observe(at.present, nowMs, at.windowStartMs);
    if (at.window >= flap.from) emitted.push(...events);
  }
  return emitted;
}
