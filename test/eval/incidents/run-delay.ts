import { configSchema } from '../../../src/config/schema.ts';
import { Detector } from '../../../src/detect/detector.ts';
import { Random } from '../../../src/generate/random.ts';
import { pagesPerWeek } from '../judge-series.ts';
import { type NullFamily, nullFamilies, windowMs, windowsPerDay } from '../null-families.ts';
import { componentsOf, drawMs } from '../traffic-model.ts';
import { incidentTraffic } from './incident-traffic.ts';

/** Part of a stage's requests, and their factor. */
export interface SlowPart {
  readonly stage: string;
  readonly share: number;
  readonly factor: number;
}

export const delayRatePerSecond = 10;
export const slowParts: readonly SlowPart[] = [
  { stage: 'forward', share: 1, factor: 10 },
  { stage: 'forward', share: 1, factor: 3 },
  { stage: 'forward', share: 0.1, factor: 8.8 },
  { stage: 'features', share: 0.1, factor: 6.4 },
  { stage: 'features', share: 0.3, factor: 2 },
  { stage: 'forward', share: 0.1, factor: 3 },
];
const family = 'independent';
/** After a day without faults, at another time of day in each series, for twenty minutes. */
const earliest = windowsPerDay;
const apart = 1_021;
const length = 120;

/**
 * Runs until the event; returns milliseconds from the first slower request, or undefined without an event.
 */
export function runDelay(seed: number, { stage, share, factor }: SlowPart): number | undefined {
  const from = earliest + ((seed * apart) % windowsPerDay);
  const to = from + length;
  const fault = { kind: 'slow part', stage, share, from, to, factorAt: () => factor };
  const order = { family, seed, windows: to, faults: [fault], ratePerSecond: delayRatePerSecond };
  const { detect } = configSchema.parse({ detect: { page_budget_per_week: pagesPerWeek } });
  const detector = new Detector(detect);
  let fromMs = Number.NaN;
  for (const { window, windowStartMs, present } of incidentTraffic(order)) {
    if (window === from) fromMs = windowStartMs;
    const events = detector.observe(present, windowStartMs + windowMs + 2_000, windowStartMs);
    const opened = events.find(({ state }) => state === 'opened');
    if (window >= from && opened) return Date.parse(opened.detected_at) - fromMs;
  }
  return undefined;
}

/** Computes the true ratio of a quantile of the stage to its baseline, within a few hundredths. */
export function trueRatio({ stage, share, factor }: SlowPart, q: number): number {
  const draws = 100_000;
  const { model } = nullFamilies.find(({ name }) => name === family) as NullFamily;
  const random = new Random('true ratio');
  const components = componentsOf(model(random).momentAt(0), stage);
  const baseline = Float64Array.from({ length: draws }, () => drawMs(components, random));
  const slow = baseline.map((ms) => (random.chance(share) ? ms * factor : ms));
  const at = Math.ceil(q * draws) - 1;
  return (slow.sort()[at] as number) / (baseline.sort()[at] as number);
}
