import { compareDefaults } from '../../compare/compare-options.ts';
import type { Comparison } from '../../compare/comparison.ts';
import { formatShare, quantileName } from '../../contract/format.ts';
import { stageLabel } from '../../contract/measure-unit.ts';
import type { CompareAnswer } from '../answers/compare.ts';

type Quantile = CompareAnswer['quantiles'][number];

/** Quantiles that a title names. */
const named: readonly number[] = [0.5, 0.95, 0.99];

/** Standard errors beyond which two shares of failures differ. */
const certainErrors = 3;

const tooShort = 'too short for a release verdict';

/**
 * "B is better at p50 (−6 %, −8 to −4) and worse at p99 (+38 %, 21 to 57): fail".
 *
 * @param finding of the incident whose test decides: what was measured follows it, and no other answer.
 */
export function comparisonTitle(
  comparison: Pick<
    Comparison,
    'verdict' | 'missing_requests' | 'minutes' | 'requests' | 'failures'
  > &
    FailedStage,
  quantiles: readonly Quantile[],
  sides: 'versions' | 'ranges' = 'versions',
  finding?: string,
): string {
  const { verdict, missing_requests, minutes } = comparison;
  const nothing = 'A and B have no requests at the same times';
  if (minutes === 0) return `${finding ?? 'Nothing to compare'}: ${nothing}`;
  const shown = quantiles.filter(({ q }) => named.includes(q));
  const measured = shown.filter(({ ratio }) => ratio !== null);
  const asMeasured = (of: readonly Quantile[]) => `B against A, as measured: ${listOf(of)}`;
  if (finding !== undefined) {
    // The intervals are those of the other test.
    const plain = measured.map((each) => ({ ...each, ratio_low: null, ratio_high: null }));
    const durations = plain.length === 0 ? [] : [asMeasured(plain)];
    return [finding, ...failuresOf(comparison), ...durations].join('; ');
  }
  const better = shown.filter(({ ratio_high }) => ratio_high !== null && ratio_high < 1);
  const worse = shown.filter(({ ratio_low }) => ratio_low !== null && ratio_low > 1);
  const parts = [
    ...(better.length === 0 ? [] : [`better at ${listOf(better)}`]),
    ...(worse.length === 0 ? [] : [`worse at ${listOf(worse)}`]),
  ];
  const deepest = shown.findLast(({ ratio }) => ratio !== null);
  const ofStage = [...failedGoodputOf(comparison), ...failedStageOf(comparison)];
  const nothingCertain =
    ofStage.length > 0 ? 'whole requests' : 'No difference between B and A is certain';
  const same =
    deepest === undefined
      ? 'B and A have no durations to compare'
      : `${nothingCertain}: ${differenceOf(deepest)}`;
  const isOpen = verdict === 'inconclusive';
  // An incident may have shown what the test of releases, which knows no past of A, leaves open.
  const isMeasured =
    isOpen && measured.length > 0 && (sides === 'ranges' || missing_requests === 0);
  const uncertain = isMeasured ? asMeasured(measured) : same;
  const durations = parts.length === 0 ? uncertain : `B is ${parts.join(' and ')}`;
  const text = [...failuresOf(comparison), ...ofStage, durations].join('; ');
  if (!isOpen) return `${text}: ${verdict}`;
  if (missing_requests === 0) return `${text}; ${tooShort}`;
  const about = Number(missing_requests.toPrecision(2)).toLocaleString('en-US');
  return `${text}; a verdict needs about ${about} more requests`;
}

/**
 * Failed requests have other durations, often short ones: they are no gain. Named where the shares differ by
 * more than the least effect and than chance.
 */
function failuresOf({ requests, failures }: Pick<Comparison, 'requests' | 'failures'>): string[] {
  const { candidate_share: b, baseline_share: a } = failures;
  const all = requests.candidate + requests.baseline;
  const share = (failures.candidate + failures.baseline) / Math.max(1, all);
  const variance = share * (1 - share) * (1 / requests.candidate + 1 / requests.baseline);
  const least = Math.max(compareDefaults.minEffectShare, certainErrors * Math.sqrt(variance));
  if (!(Math.abs(b - a) >= least)) return [];
  return [`B fails ${formatShare(b)} of requests, A ${formatShare(a)}`];
}

/** The stage or the objective that made B fail, where that is not the whole request. */
type FailedStage = Partial<
  Pick<Comparison, 'failed_stage' | 'failed_objective' | 'failed_by' | 'stages'>
>;

/** "Goodput of B is worse (objective chat)". */
function failedGoodputOf({ failed_objective }: FailedStage): string[] {
  if (failed_objective === undefined || failed_objective === null) return [];
  return [`Goodput of B is worse (objective ${failed_objective})`];
}

/** "TTFT (first_token) of B is worse at p99 (+62 %, 41 to 90)". */
function failedStageOf({ failed_stage, failed_by, stages = [] }: FailedStage): string[] {
  const failed = stages.find(({ stage }) => stage === failed_stage);
  if (failed === undefined) return [];
  const worse = failed.quantiles.filter(({ ratio_low }) => ratio_low !== null && ratio_low > 1);
  const at = worse.length > 0 ? worse : failed.quantiles.filter(({ q }) => q === failed_by);
  return [`${stageLabel(failed.stage)} of B is worse at ${listOf(at)}`];
}

/** Of any names of its sides. */
type Difference = Pick<Quantile, 'q' | 'ratio' | 'ratio_low' | 'ratio_high'>;

function listOf(quantiles: readonly Difference[]): string {
  return quantiles.map(differenceOf).join(', ');
}

/** "p99 (+38 %, 21 to 57)". */
function differenceOf({ q, ratio, ratio_low, ratio_high }: Difference): string {
  const interval =
    ratio_low === null || ratio_high === null
      ? ''
      : `, ${signed(ratio_low, '')} to ${signed(ratio_high, '')}`;
  return `${quantileName(q)} (${ratio === null ? '–' : `${signed(ratio, '+')} %`}${interval})`;
}

/** Percent that a ratio lies above 1 or below it. */
function signed(ratio: number, plus: string): string {
  const percent = (ratio - 1) * 100;
  const size = Math.abs(percent);
  const digits = size.toFixed(size < 1 ? 1 : 0);
  return Number(digits) === 0 ? '0' : `${percent < 0 ? '−' : plus}${digits}`;
}
