import type { NabProfile } from './nab-profiles.ts';
import { nabSweep, type ScoredFile } from './nab-sweep.ts';

export interface NabScore {
  /** 0 for detecting nothing, 100 for every anomaly at its first record and nothing else. */
  readonly normalized: number;
  readonly threshold: number;
}

/**
 * Computes a detector's score over a corpus by one profile.
 *
 * @param threshold one for all files; without it the one with the highest score, as in NAB
 */
export function nabScore(
  files: readonly ScoredFile[],
  profile: NabProfile,
  threshold?: number,
): NabScore {
  const swept = nabSweep(files, profile);
  const best =
    threshold === undefined
      ? swept.reduce((best, one) => (one.score > best.score ? one : best))
      : swept.findLast((one) => one.threshold >= threshold);
  const anomalies = files.reduce((sum, { windows }) => sum + windows.length, 0);
  const nothing = -anomalies * profile.falseNegative;
  const perfect = anomalies * profile.truePositive;
  const score = best?.score ?? nothing;
  const normalized = (100 * (score - nothing)) / (perfect - nothing);
  return { normalized, threshold: threshold ?? best?.threshold ?? Number.NaN };
}
