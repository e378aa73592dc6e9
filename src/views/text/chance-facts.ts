import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import { formatCount } from '../../contract/format.ts';
import { hasBeenWorse, peakText } from '../../contract/peak-text.ts';
import { withHistory } from '../../contract/short-history.ts';
import { clock, odds } from './format.ts';

/** The evidence that opened an anomaly: counts, for everybody; and the statistics behind it. */
export interface EvidenceText {
  /** The numbers of requests first. */
  readonly sentences: readonly string[];
  /** Probabilities, thresholds, dispersion. */
  readonly statistics: readonly { readonly label: string; readonly text: string }[];
}

type Evidence = AnomalyEvent['evidence'];

export function chanceFacts({ p_value, alpha }: Pick<Evidence, 'p_value' | 'alpha'>) {
  return [
    { label: 'Probability on a normal day', text: `at most ${odds(p_value)}` },
    { label: 'Threshold from the page budget', text: odds(alpha) },
  ];
}

export function windowsFact(of: Pick<Evidence, 'windows' | 'baseline_windows'>) {
  return {
    label: 'Windows',
    text: `${of.windows}, and ${formatCount(of.baseline_windows)} of the baseline`,
  };
}

/** Up to when all of it is measured, and how bad it has been where it is better now. */
export function measuredSentences(event: AnomalyEvent): string[] {
  const { measured_at, peak } = event;
  if (measured_at === undefined) return [];
  const was =
    hasBeenWorse(event) && peak
      ? `; at its worst until then ${peakText(event)}, ${clock(peak.at)}`
      : '';
  return [`as of ${clock(measured_at)}${was}`];
}

/** The baseline's time, and since when its history is known where that is short. */
export function baselineSentence(evidence: Evidence): string {
  const { baseline_from, baseline_to } = evidence;
  return withHistory(`baseline: ${clock(baseline_from)} to ${clock(baseline_to)}`, evidence);
}
