import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import {
  formatCount,
  formatMsOf,
  formatRatio,
  formatShare,
  quantileName,
  seriesLabel,
} from '../../contract/format.ts';
import { perUnit } from '../../contract/measure-unit.ts';
import { ofWorstSeries } from '../../contract/worst-series.ts';
import {
  baselineSentence,
  chanceFacts,
  type EvidenceText,
  measuredSentences,
  windowsFact,
} from './chance-facts.ts';
import { expectedCount, odds } from './format.ts';
import { rateEvidence } from './rate-evidence.ts';

/** The evidence that opened an anomaly; of an incident, that of its most affected series. */
export function evidenceOf(ofAll: AnomalyEvent): EvidenceText {
  const event = ofWorstSeries(ofAll);
  if (event.kind === 'drift') return driftEvidence(event);
  return event.rate === undefined ? tailEvidence(event) : rateEvidence(event, event.rate);
}

function driftEvidence(event: AnomalyEvent): EvidenceText {
  const { evidence, ratio } = event;
  const { exceedances, expected, p_value, alpha, dispersion } = evidence;
  const name = quantileName(event.quantile);
  return {
    sentences: [
      `${formatCount(exceedances)} of ${formatCount(2 * expected)} hours were slower than the same hour a week before; the ${name} of the median hour grew ${formatRatio(ratio)}`,
      `${observedText(event)} over the last day, baseline ${formatOf(event)(event.baseline_ms)}`,
      ...measuredSentences(event),
      baselineSentence(evidence),
    ],
    statistics: [
      { label: 'Probability in a normal week', text: `at most ${odds(p_value)}` },
      { label: 'Threshold from the page budget', text: odds(alpha) },
      {
        label: 'Autocorrelation',
        text: `an hour counts as ${(1 / dispersion).toPrecision(2)} independent hours`,
      },
    ],
  };
}

function tailEvidence(event: AnomalyEvent): EvidenceText {
  const { evidence, quantile, requests, baseline_ms, ratio } = event;
  const { windows, exceedances, expected, p_value, alpha, dispersion, measured_stage } = evidence;
  const what = measured_stage === 'total' ? 'slower' : `slower in ${measured_stage}`;
  // The numbers of an incident are those of its most affected series.
  const whose = event.scope === undefined ? '' : ` of ${seriesLabel(event)}`;
  return {
    sentences: [
      `${formatCount(exceedances)} of ${formatCount(requests)} requests${whose} were ${what} than the slowest ${formatShare(1 - quantile)} of normal, ${formatOf(event)(baseline_ms)}; ${expectedCount(expected)} expected`,
      `${observedText(event)}, ${formatRatio(ratio)} its baseline of ${formatOf(event)(baseline_ms)}`,
      ...measuredSentences(event),
      baselineSentence(evidence),
    ],
    statistics: [
      ...chanceFacts({ p_value, alpha }),
      {
        label: 'Dispersion',
        text: `${dispersion.toPrecision(2)}x the variance of independent requests; the probability allows for it`,
      },
      windowsFact({ windows, baseline_windows: evidence.baseline_windows }),
    ],
  };
}

/** Formats `p99: 84 ms (95 % interval 80 ms to 90 ms)`. */
function observedText(event: AnomalyEvent): string {
  const [low, high] = event.interval_ms.map(formatOf(event));
  const observed = formatOf(event)(event.observed_ms);
  const per = perUnit(event.evidence.measured_stage);
  return `${quantileName(event.quantile)}: ${observed}${per} (95 % interval ${low} to ${high})`;
}

/** Its numbers in one unit. */
function formatOf({ observed_ms, baseline_ms }: AnomalyEvent): (ms: number) => string {
  return formatMsOf(observed_ms, baseline_ms);
}
