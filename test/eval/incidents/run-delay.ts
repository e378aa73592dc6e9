import { configSchema } from '../../../src/config/schema.ts';
import { Detector } from '../../../src/detect/detector.ts';
import { windowMs, windowsPerDay } from '../null-families.ts';
import { pagesPerWeek } from '../run-series.ts';
import { faultOf } from './fault-of.ts';
import { incidentTraffic } from './incident-traffic.ts';

export const delayRatePerSecond = 10;
/** After a day of quiet, at another time of day in each series, for twenty minutes. */
const earliest = windowsPerDay;
const apart = 1_021;
const length = 120;

/** Milliseconds from the first slower request until a fault is told, or undefined if it is not. */
export function runDelay(family: string, seed: number, kind: string): number | undefined {
  const from = earliest + ((seed * apart) % windowsPerDay);
  const to = from + length;
  const order = { family, seed, windows: to, ratePerSecond: delayRatePerSecond };
  const { detect } = configSchema.parse({ detect: { page_budget_per_week: pagesPerWeek } });
  const detector = new Detector(detect);
  let fromMs = Number.NaN;
  for (const at of incidentTraffic({ ...order, faults: [faultOf(kind, from, to)] })) {
    const { window, windowStartMs, present } = at;
    if (window === from) fromMs = windowStartMs;
    const events = detector.observe(present, windowStartMs + windowMs + 2_000, windowStartMs);
    const opened = events.find(({ state }) => state === 'opened');
    if (window >= from && opened) return Date.parse(opened.detected_at) - fromMs;
  }
  return undefined;
}
