import { historyField, withHistory } from '../../contract/short-history.ts';
import type { Series } from '../../series/series-window.ts';
import { baselineFields, round, shareOfRequests, significance } from '../event/measured-fields.ts';
import type { RateMeasured } from '../event/rate-event.ts';
import { severity } from '../event/severity.ts';
import { type Proportion, proportionSummary, type WholeRequests } from './proportion.ts';
import type { ProportionVerdict } from './proportion-test.ts';

interface ProportionCounts {
  /** Whole requests of the verdict's windows. */
  readonly shown: readonly WholeRequests[];
  /** Requests of all series in the last window. */
  readonly totalRequests: number;
  /** Start of the history behind the baseline, where it is short. */
  readonly historyFromMs: number | undefined;
}

/** The observed rate, its baseline, and the evidence. */
export function proportionMeasured(
  proportion: Proportion,
  series: Series,
  verdict: Omit<ProportionVerdict, 'startedAtMs' | 'opens' | 'suspicious'>,
  { shown, totalRequests, historyFromMs }: ProportionCounts,
): RateMeasured {
  const { reference, requests, hits, dispersion, windows } = verdict;
  const rate = shareOfRequests(proportion.unit, verdict, reference.rate);
  const last = shown.at(-1);
  const seriesShare = hits / requests - reference.rate;
  const affectedShare = (seriesShare * (last?.requests ?? 0)) / Math.max(1, totalRequests);
  const history = historyField(historyFromMs);
  return {
    rate,
    requests,
    affected_share: round(affectedShare, 9),
    evidence: {
      test: 'likelihood_ratio',
      ...significance(verdict),
      windows,
      exceedances: hits,
      expected: round(reference.rate * requests, 9),
      dispersion: round(dispersion, 9),
      measured_stage: last?.stage ?? '',
      ...baselineFields(reference),
      ...history,
    },
    severity: severity({
      ...{ isWaitedFor: true, ratio: rate.ratio, affectedShare, seriesShare },
      isHistoryShort: historyFromMs !== undefined,
      isUsualInPart: proportion.isUsualInPart,
    }),
    summary: withHistory(proportionSummary(proportion, series, rate, shown), history),
  };
}
