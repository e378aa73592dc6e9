import { configSchema } from '../../../src/config/schema.ts';
import { Detector } from '../../../src/detect/detector.ts';
import { Random } from '../../../src/generate/random.ts';
import { type Fault, faultsFrom } from '../faults.ts';
import { learningDays, pagesPerWeek } from '../judge-series.ts';
import { windowMs, windowsPerDay } from '../null-families.ts';
import { trueEffect } from '../true-effect.ts';
import { incidentTraffic } from './incident-traffic.ts';

/** Results of one series with faults: pageable faults, found ones, and pages that belong to none. */
export interface FaultCounts {
  readonly faults: number;
  readonly found: number;
  readonly falsePages: number;
}

const days = 4;
const afterWindows = 60;

/** Runs a series with faults of every kind. `isRaw`: the detector sees every request, not digests. */
export function runFaults(family: string, seed: number, isRaw: boolean): FaultCounts {
  const first = learningDays * windowsPerDay;
  const windows = days * windowsPerDay;
  const faults = faultsFrom(first, windows, new Random(`faults ${seed}`));
  const { detect } = configSchema.parse({ detect: { page_budget_per_week: pagesPerWeek } });
  const detector = new Detector(detect);
  const random = new Random(`effects ${seed}`);
  const small = new Set<Fault>();
  const opened: number[] = [];
  for (const at of incidentTraffic({ family, seed, windows, faults, isRaw })) {
    const { window, windowStartMs, present, moment } = at;
    for (const fault of faults.filter((fault) => fault.from === window)) {
      const { ratio, excessMs } = trueEffect(fault, moment, random.split(`${window}`));
      if (ratio < detect.min_effect_ratio || excessMs < detect.min_effect_ms) small.add(fault);
    }
    for (const event of detector.observe(
      present,
      windowStartMs + windowMs + 2_000,
      windowStartMs,
    )) {
      if (event.state === 'opened') opened.push(window);
    }
  }
  const isOf = ({ from, to }: Fault, window: number) =>
    from <= window && window < to + afterWindows;
  const large = faults.filter((fault) => !small.has(fault));
  return {
    faults: large.length,
    found: large.filter((fault) => opened.some((window) => isOf(fault, window))).length,
    falsePages: opened.filter(
      (window) => window >= first && !faults.some((fault) => isOf(fault, window)),
    ).length,
  };
}
