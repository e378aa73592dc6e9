import type { Series, StageSummary } from '../baseline/series-window.ts';
import type { AnomalyEvent, Rate, Resolution } from './anomaly-event.ts';
import type { FailureVerdict } from './failure-test.ts';
import { formatShare } from './format-share.ts';
import type { RateMeasured } from './rate-event.ts';
import type { StepContext } from './series-detector.ts';
import { seriesLabel } from './series-label.ts';
import { severity } from './severity.ts';
import { shareInterval } from './share-interval.ts';

const smallestP = 1e-300;
/** From this part of the failures on it is said of which sort they are. */
const mostShare = 0.8;

/** What is kept of the whole requests of a window. */
export type FailingRequests = Pick<
  StageSummary,
  'stage' | 'requests' | 'errors' | 'timeouts' | 'digest'
>;

export interface FailuresInput {
  readonly series: Series;
  readonly verdict: FailureVerdict;
  /** Whole requests of the windows that show it. */
  readonly shown: readonly FailingRequests[];
  readonly context: StepContext;
}

/** How many requests fail, how many usually do, and why that is believed. */
export function failureMeasured({ series, verdict, shown, context }: FailuresInput): RateMeasured {
  const { reference, requests, failures, dispersion } = verdict;
  const observed = failures / requests;
  const rate: Rate = {
    unit: 'failures per request',
    observed: round(observed),
    baseline: round(reference.rate),
    ratio: round(observed / reference.rate),
    interval: shareInterval(failures, requests, dispersion).map(round) as [number, number],
  };
  const windowRequests = shown.at(-1)?.requests ?? 0;
  const beyond = (observed - reference.rate) * windowRequests;
  const affectedShare = beyond / Math.max(1, context.totalRequests);
  return {
    rate,
    requests,
    affected_share: round(affectedShare),
    evidence: {
      test: 'likelihood_ratio',
      p_value: Math.max(Math.exp(verdict.logP), smallestP),
      alpha: Math.exp(verdict.logLevel),
      windows: verdict.windows,
      exceedances: failures,
      expected: round(reference.rate * requests),
      dispersion: round(dispersion),
      measured_stage: shown.at(-1)?.stage ?? '',
      baseline_windows: reference.windows,
      baseline_from: new Date(reference.fromMs).toISOString(),
      baseline_to: new Date(reference.toMs).toISOString(),
    },
    severity: severity({ totalMoved: true, ratio: rate.ratio, affectedShare }),
    summary: summaryOf(series, rate, shown),
  };
}

/** "ranker (search, eu-west-1): 4.8 % of requests fail, usual are 0.2 %; most of them time out". */
function summaryOf(series: Series, rate: Rate, shown: readonly FailingRequests[]): string {
  const timeouts = shown.reduce((sum, each) => sum + each.timeouts, 0);
  const all = shown.reduce((sum, each) => sum + each.errors + each.timeouts, 0);
  const sort =
    timeouts === all
      ? '; all of them time out'
      : timeouts >= mostShare * all
        ? '; most of them time out'
        : '';
  const { observed, baseline } = rate;
  return `${seriesLabel(series)}: ${formatShare(observed)} of requests fail, usual are ${formatShare(baseline)}${sort}`;
}

/** @param now the part of requests that fail by now, if there are any. */
export function failureFarewell(
  event: AnomalyEvent,
  resolution: Resolution,
  now: number | undefined,
): string {
  const label = seriesLabel(event);
  const usual = formatShare(event.rate?.baseline ?? 0);
  const part = now === undefined ? '' : `: ${formatShare(now)} of requests fail`;
  if (resolution === 'recovered') return `${label} has recovered${part}, usual are ${usual}`;
  if (resolution === 'no_traffic')
    return `${label} has too few requests to judge whether they fail`;
  return `${label} keeps failing, which is the new usual${part}, before it was ${usual}`;
}

function round(value: number): number {
  return Math.round(value * 1e9) / 1e9 + 0;
}
