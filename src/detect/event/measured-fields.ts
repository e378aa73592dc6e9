import type { RateReference } from '../../baseline/rate-baseline.ts';
import type { Rate } from '../../contract/anomaly-event.ts';
import { shareInterval } from '../stats/quantile-interval.ts';

/** Smallest p-value of an event: one of 0 would claim certainty. */
const smallestP = 1e-300;

/** The p-value and its threshold, from their logarithms. */
export function significance({ logP, logAlpha }: { logP: number; logAlpha: number }) {
  return { p_value: Math.max(Math.exp(logP), smallestP), alpha: Math.exp(logAlpha) };
}

type Baseline = Pick<RateReference, 'windows' | 'fromMs' | 'toMs'>;

/** Windows of the baseline, and the time that they are from. */
export function baselineFields({ windows, fromMs, toMs }: Baseline) {
  return {
    baseline_windows: windows,
    baseline_from: new Date(fromMs).toISOString(),
    baseline_to: new Date(toMs).toISOString(),
  };
}

/** A share of requests with its interval; `baseline` is above 0. */
export function shareOfRequests(
  unit: Rate['unit'],
  { hits, requests, dispersion }: { hits: number; requests: number; dispersion: number },
  baseline: number,
): Rate {
  const observed = hits / requests;
  const [low, high] = shareInterval(hits, requests, dispersion);
  return {
    unit,
    observed: round(observed, 9),
    baseline: round(baseline, 9),
    ratio: round(observed / baseline, 9),
    interval: [round(low, 9), round(high, 9)],
  };
}

/** Rounds to some decimals, and never to -0, which JSON does not preserve. */
export function round(value: number, decimals = 6): number {
  const factor = 10 ** decimals;
  return Math.round(value * factor) / factor + 0;
}
