import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import type { SeriesWindow } from '../../series/series-window.ts';
import { TDigest } from '../../sketch/t-digest.ts';

export const noLead = {
  stage: '',
  quantile: 0,
  baselineMs: 0,
  ratio: 1,
  requests: 0,
  exceedances: 0,
  dispersion: 1,
  windows: 1,
};

/**
 * Stage and quantile by which an anomaly is followed, its baseline, how many requests were slow when that
 * was measured, and how much slower than the baseline.
 */
export type TailLead = Readonly<typeof noLead>;

/** Least share of slow requests that is attributed to a stage, as a factor of the baseline's. */
const leastFactor = 2;

/** The lead of an event. */
export function leadOf({
  quantile,
  baseline_ms,
  ratio,
  requests,
  evidence,
}: AnomalyEvent): TailLead {
  const { measured_stage: stage, exceedances, dispersion, windows } = evidence;
  const measured = { stage, quantile, baselineMs: baseline_ms, ratio };
  return { ...measured, requests, exceedances, dispersion, windows };
}

/**
 * The lead of a stage that the total led before.
 *
 * @param before windows in which the stage was the only cause.
 */
export function stageLead(
  { quantile, dispersion, windows }: TailLead,
  stage: string,
  baseline: TDigest,
  before: readonly SeriesWindow[],
): TailLead {
  const baselineMs = baseline.quantile(quantile);
  const summaries = before.flatMap(({ stages }) => stages.get(stage) ?? []);
  const requests = summaries.reduce((sum, each) => sum + each.requests, 0);
  const digest = TDigest.merge(summaries.map((each) => each.digest));
  const slow = requests === 0 ? 0 : requests * (1 - digest.cdf(baselineMs));
  const of = Math.max(1, requests);
  const exceedances = Math.max(slow, leastFactor * (1 - quantile) * of);
  const ratio = requests === 0 ? 1 : digest.quantile(quantile) / baselineMs;
  return { stage, quantile, baselineMs, ratio, requests: of, exceedances, dispersion, windows };
}
