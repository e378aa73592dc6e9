import type { Series } from '../../series/series-window.ts';
import { baselineFields, round, shareOfRequests, significance } from '../event/measured-fields.ts';
import type { RateMeasured } from '../event/rate-event.ts';
import { severity } from '../event/severity.ts';
import { type Proportion, proportionSummary, type WholeRequests } from './proportion.ts';
import type { ProportionVerdict } from './proportion-test.ts';

/**
 * The observed rate, its baseline, and the evidence.
 *
 * @param shown whole requests of the verdict's windows.
 * @param totalRequests of all series in the last window.
 */
export function proportionMeasured(
  proportion: Proportion,
  series: Series,
  verdict: ProportionVerdict,
  shown: readonly WholeRequests[],
  totalRequests: number,
): RateMeasured {
  const { reference, requests, hits, dispersion, windows } = verdict;
  const rate = shareOfRequests(proportion.unit, verdict, reference.rate);
  const last = shown.at(-1);
  const excess = (hits / requests - reference.rate) * (last?.requests ?? 0);
  const affectedShare = excess / Math.max(1, totalRequests);
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
    },
    severity: severity({ totalMoved: true, ratio: rate.ratio, affectedShare }),
    summary: proportionSummary(proportion, series, rate, shown),
  };
}
