import type { AnomalyEvent } from '../../detect/event/anomaly-event.ts';
import { formatCount, formatMs, formatRatio, quantileName } from '../../detect/event/format.ts';
import { ofWorstSeries } from '../../detect/event/worst-series.ts';
import { clock, odds } from './format.ts';
import { rateEvidenceLines } from './rate-evidence.ts';

/** Why an anomaly was opened, a sentence a line; of an incident, why its worst series was. */
export function evidenceOf(ofAll: AnomalyEvent): string[] {
  const event = ofWorstSeries(ofAll);
  if (event.kind === 'drift') return driftEvidenceLines(event);
  return event.rate === undefined ? evidenceLines(event) : rateEvidenceLines(event, event.rate);
}

function driftEvidenceLines(event: AnomalyEvent): string[] {
  const { evidence, ratio } = event;
  const { exceedances, expected, p_value, alpha, dispersion } = evidence;
  const name = quantileName(event.quantile);
  return [
    `${formatCount(exceedances)} of ${formatCount(2 * expected)} hours were slower than the same hour a week before; the ${name} of the median hour grew ${formatRatio(ratio)}`,
    `probability in a normal week: at most ${odds(p_value)}`,
    `threshold from the page budget: ${odds(alpha)}`,
    `autocorrelation: an hour counts as ${(1 / dispersion).toPrecision(2)} independent hours`,
    `${observedText(event)} over the last day, baseline ${formatMs(event.baseline_ms)}`,
    `baseline: ${clock(evidence.baseline_from)} to ${clock(evidence.baseline_to)}`,
  ];
}

function evidenceLines(event: AnomalyEvent): string[] {
  const { evidence } = event;
  const { windows, exceedances, expected, p_value, alpha, dispersion } = evidence;
  return [
    `${formatCount(exceedances)} of ${formatCount(event.requests)} requests in ${windows === 1 ? 'one window' : `${windows} windows`} exceeded ${formatMs(event.baseline_ms)} (expected: ${formatCount(expected)})`,
    `probability on a normal day: at most ${odds(p_value)}`,
    `threshold from the page budget: ${odds(alpha)}`,
    `dispersion: ${dispersion.toPrecision(2)}x the variance of independent requests (the probability allows for it)`,
    `${observedText(event)}, ${formatRatio(event.ratio)} its baseline of ${formatMs(event.baseline_ms)}`,
    `baseline: ${formatCount(evidence.baseline_windows)} windows from ${clock(evidence.baseline_from)} to ${clock(evidence.baseline_to)}`,
  ];
}

/** Formats `p99: 84 ms (95 % interval 80 ms to 90 ms)`. */
function observedText({ quantile, observed_ms, interval_ms: [low, high] }: AnomalyEvent): string {
  return `${quantileName(quantile)}: ${formatMs(observed_ms)} (95 % interval ${formatMs(low)} to ${formatMs(high)})`;
}
