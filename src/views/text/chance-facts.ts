import type { AnomalyEvent } from '../../detect/event/anomaly-event.ts';
import { formatCount } from '../../detect/event/format.ts';
import { odds } from './format.ts';

/** Why an anomaly was opened: what was counted, for everybody; and the statistics behind it. */
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
