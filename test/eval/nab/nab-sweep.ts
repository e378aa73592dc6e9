import type { NabProfile } from './nab-profiles.ts';

/** Anomalies of a file: first and last record of each, in order. */
export type NabWindows = readonly (readonly [first: number, last: number])[];

/** A detector's scores of a file: one number from 0 to 1 a record. */
export interface ScoredFile {
  readonly windows: NabWindows;
  readonly scores: ArrayLike<number>;
}

export interface ThresholdScore {
  /** Records that reach it are detections. */
  readonly threshold: number;
  readonly score: number;
}

/** The first part of a file, in which nothing counts; a detector may learn from it. */
const probation = { part: 0.15, mostRecords: 750 } as const;
/**
 * Steepness of the sigmoid, in lengths of a window; and the distance behind one at which a false alarm costs
 * in full.
 */
const steepness = 5;
const farWindows = 3;
/** Above every score: nothing is detected. */
const noDetection = 1.1;

/**
 * Scores detections as NAB does (Lavin and Ahmad, "Evaluating Real-time Anomaly Detection Algorithms: the
 * Numenta Anomaly Benchmark", 2015). Of each window the earliest detection counts, the earlier the more, and
 * a window without one costs. Each detection outside costs, less of it soon after a window.
 *
 * @returns the score at every threshold at which it changes, highest threshold first. Cost: a sort of all
 * records
 */
export function nabSweep(files: readonly ScoredFile[], profile: NabProfile): ThresholdScore[] {
  const records: { score: number; worth: number; window: number }[] = [];
  /** Score of each window of all files so far. */
  const windowScores: number[] = [];
  for (const { windows, scores } of files) {
    const worths = worthOfRecords(scores.length, windows, profile);
    const from = Math.min(Math.floor(probation.part * scores.length), probation.mostRecords);
    const firstWindow = windowScores.length;
    for (const [, last] of windows) windowScores.push(last < from ? 0 : -profile.falseNegative);
    for (let i = from; i < scores.length; i++) {
      const within = windows.findIndex(([first, last]) => first <= i && i <= last);
      const window = within < 0 ? -1 : firstWindow + within;
      records.push({ score: scores[i] as number, worth: worths[i] as number, window });
    }
  }
  records.sort((a, b) => b.score - a.score);
  let total = windowScores.reduce((sum, score) => sum + score, 0);
  const swept: ThresholdScore[] = [{ threshold: noDetection, score: total }];
  records.forEach(({ score, worth, window }, i) => {
    if (window < 0) total += worth;
    else {
      const before = windowScores[window] as number;
      const after = Math.max(before, worth);
      windowScores[window] = after;
      total += after - before;
    }
    if (records[i + 1]?.score !== score) swept.push({ threshold: score, score: total });
  });
  return swept;
}

/** Computes the score of a detection at each record by itself. */
function worthOfRecords(records: number, windows: NabWindows, profile: NabProfile): Float64Array {
  const worths = new Float64Array(records).fill(-profile.falsePositive);
  const most = scaledSigmoid(-1);
  windows.forEach(([first, last], w) => {
    const length = last - first + 1;
    for (let i = first; i <= last; i++) {
      worths[i] = (scaledSigmoid(-(last - i + 1) / length) / most) * profile.truePositive;
    }
    const next = windows[w + 1]?.[0] ?? records;
    for (let i = last + 1; i < next; i++) {
      worths[i] = scaledSigmoid((i - last) / (length - 1)) * profile.falsePositive;
    }
  });
  return worths;
}

/** From 0.987 at the beginning of a window (-1) through 0 at its end to -1 far behind it. */
function scaledSigmoid(position: number): number {
  return position > farWindows ? -1 : 2 / (1 + Math.exp(steepness * position)) - 1;
}
