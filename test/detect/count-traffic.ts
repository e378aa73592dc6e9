import type { Random } from '../../src/generate/random.ts';
import type { Series, SeriesWindow, StageSummary } from '../../src/series/series-window.ts';
import { TDigest } from '../../src/sketch/t-digest.ts';

export const windowMs = 10_000;
export const windowsPerDay = 86_400_000 / windowMs;
export const countStartMs = Date.UTC(2026, 10, 2);

/** Number of requests of a series in a window, and their outcomes. */
export interface Counts {
  readonly requests: number;
  readonly errors?: number;
  readonly timeouts?: number;
}

const empty = { bands: [], amounts: [] };
/** Milliseconds common to all windows: these tests are about counts. */
const digest = TDigest.fromValues([40, 45, 50, 55, 60, 80, 120]);

export function seriesOf(changed: Partial<Series> = {}): Series {
  return {
    ...{ service: '', model: 'ranker', version: 'v1', request_type: 'search', region: 'eu-west-1' },
    ...{ host: '', tenant: '', cold_start: false },
    ...changed,
  };
}

/** A window with only the counts of its whole requests. */
export function countWindow(series: Series, at: number, counts: Counts): SeriesWindow {
  const { requests, errors = 0, timeouts = 0 } = counts;
  const total: StageSummary = {
    stage: 'total',
    ...{ requests, errors, timeouts, cancelled: 0 },
    ...{ sumMs: 50 * requests, minMs: 40, maxMs: 120, digest, bands: empty, bandsMs: empty },
  };
  const windowStartMs = countStartMs + at * windowMs;
  return { windowStartMs, windowMs, series, stages: new Map([['total', total]]) };
}

/** 0 at midnight, 1 at noon. */
export function dayCurve(at: number): number {
  return (1 - Math.cos((2 * Math.PI * at) / windowsPerDay)) / 2;
}

/** Large means come from the normal distribution, which is indistinguishable there. */
export function poisson(mean: number, random: Random): number {
  if (mean < 60) return random.poisson(mean);
  return Math.max(0, Math.round(mean + Math.sqrt(mean) * random.normal()));
}

export function binomial(requests: number, share: number, random: Random): number {
  if (requests * share < 30) {
    let hits = 0;
    for (let i = 0; i < requests; i++) if (random.chance(share)) hits++;
    return hits;
  }
  const sigma = Math.sqrt(requests * share * (1 - share));
  return Math.min(requests, Math.max(0, Math.round(requests * share + sigma * random.normal())));
}

/** A standard normal, autocorrelated over the given number of windows. */
export function wandering(random: Random, memoryWindows: number): () => number {
  const keep = Math.exp(-1 / memoryWindows);
  let level = random.normal();
  return () => {
    level = keep * level + Math.sqrt(1 - keep * keep) * random.normal();
    return level;
  };
}
