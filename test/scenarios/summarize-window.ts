import { packStages } from '../../src/series/pack-stages.ts';
import type { Bands, Series, SeriesWindow, StageSummary } from '../../src/series/series-window.ts';
import { bandOf } from '../../src/sketch/band.ts';
import { TDigest } from '../../src/sketch/t-digest.ts';

export interface Samples {
  readonly series: Series;
  readonly windowStartMs: number;
  readonly windowMs: number;
  /** Milliseconds per stage, one per request, requests in the same order; `total` may be absent. */
  readonly stages: ReadonlyMap<string, readonly number[]>;
  /** Requests of which so many fail, and of these so many by running out of time; none where left out. */
  readonly failed?: { readonly errors: number; readonly timeouts: number };
}

/** What ingest would store of these requests, as the detector reads it. */
export function summarizeWindow({
  series,
  windowStartMs,
  windowMs,
  stages,
  failed = { errors: 0, timeouts: 0 },
}: Samples): SeriesWindow {
  const totals = stages.get('total');
  const summaries: StageSummary[] = [];
  for (const [stage, values] of stages) {
    const isTotal = stage === 'total';
    summaries.push({
      stage,
      requests: values.length,
      ...failed,
      cancelled: 0,
      sumMs: values.reduce((sum, ms) => sum + ms, 0),
      minMs: values.reduce((least, ms) => Math.min(least, ms)),
      maxMs: values.reduce((most, ms) => Math.max(most, ms)),
      digest: TDigest.fromValues(values, 51),
      bands: bandsOf(totals, isTotal ? undefined : values),
      bandsMs: bandsOf(isTotal ? totals : undefined, values),
    });
  }
  return { windowStartMs, windowMs, series, stages: packStages(summaries) };
}

/** Sums `amounts` (1 each if absent) per band of the total. */
function bandsOf(totals: readonly number[] | undefined, amounts?: readonly number[]): Bands {
  const sums = new Map<number, number>();
  totals?.forEach((total, i) => {
    const band = bandOf(total);
    sums.set(band, (sums.get(band) ?? 0) + (amounts?.[i] ?? 1));
  });
  const bands = [...sums.keys()].sort((x, y) => x - y);
  return { bands, amounts: bands.map((band) => sums.get(band) ?? 0) };
}
