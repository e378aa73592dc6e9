import type { Series } from '../../series/series-window.ts';
import type { Rate } from '../event/anomaly-event.ts';
import type { RateMeasured } from '../event/rate-event.ts';
import { severity } from '../event/severity.ts';
import { shareInterval } from '../stats/quantile-interval.ts';
import type { StepContext } from '../step/detector-step.ts';
import type { Proportion, WholeRequests } from './proportion.ts';
import type { ProportionVerdict } from './proportion-test.ts';

const smallestP = 1e-300;

export interface ProportionInput {
  readonly proportion: Proportion;
  readonly series: Series;
  readonly verdict: ProportionVerdict;
  /** Whole requests of the verdict's windows. */
  readonly shown: readonly WholeRequests[];
  readonly context: StepContext;
}

/** The observed rate, its baseline, and the evidence. */
export function proportionMeasured(input: ProportionInput): RateMeasured {
  const { proportion, series, verdict, shown, context } = input;
  const { reference, requests, hits, dispersion } = verdict;
  const observed = hits / requests;
  const rate: Rate = {
    unit: proportion.unit,
    observed: round(observed),
    baseline: round(reference.rate),
    ratio: round(observed / reference.rate),
    interval: shareInterval(hits, requests, dispersion).map(round) as [number, number],
  };
  const windowRequests = shown.at(-1)?.requests ?? 0;
  const excess = (observed - reference.rate) * windowRequests;
  const affectedShare = excess / Math.max(1, context.totalRequests);
  return {
    rate,
    requests,
    affected_share: round(affectedShare),
    evidence: {
      test: 'likelihood_ratio',
      p_value: Math.max(Math.exp(verdict.logP), smallestP),
      alpha: Math.exp(verdict.logLevel),
      windows: verdict.windows,
      exceedances: hits,
      expected: round(reference.rate * requests),
      dispersion: round(dispersion),
      measured_stage: shown.at(-1)?.stage ?? '',
      baseline_windows: reference.windows,
      baseline_from: new Date(reference.fromMs).toISOString(),
      baseline_to: new Date(reference.toMs).toISOString(),
    },
    severity: severity({ totalMoved: true, ratio: rate.ratio, affectedShare }),
    summary: proportion.summary(series, rate, shown),
  };
}

function round(value: number): number {
  return Math.round(value * 1e9) / 1e9 + 0;
}
