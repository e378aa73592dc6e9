import { PeakPool } from '../../src/detect/score/peak-pool.ts';
import { CusumBank } from '../../src/detect/tail/evidence/cusum-bank.ts';
import { EvidenceWeights } from '../../src/detect/tail/evidence/evidence-weights.ts';
import { faultTemplates } from '../../src/detect/tail/evidence/fault-templates.ts';
import { WindowScores } from '../../src/detect/tail/evidence/window-scores.ts';
import type { TailCounts } from '../../src/detect/tail/tail-counts.ts';
import { Arena } from '../../src/memory/arena.ts';
import { TDigest } from '../../src/sketch/t-digest.ts';
import { detectOptions } from '../scenarios/run-scenario.ts';

const options = detectOptions();
const memory = Arena.shared();
/** Weights of a baseline of 1,000 requests. */
const anyWeights = new EvidenceWeights(TDigest.fromCentroids([50, 80], [600, 400]));

/**
 * Finds the fault with the most evidence, as `ShiftTest` does with the scores of a window of 100 requests.
 */
export function findIn(
  evidence: CusumBank,
  counts: TailCounts,
  startMs: number,
  scores: WindowScores,
): number {
  return CusumBank.add(evidence.at, anyWeights.at, counts.at, options, startMs, 100, scores);
}

/** Finds evidence of 50 nats that began then. */
export function foundSince(counts: TailCounts, fromMs: number): WindowScores {
  const evidence = new CusumBank(options.window, new PeakPool());
  const scores = new WindowScores();
  scores.sums.fill(50 * evidence.varianceInflation(0));
  findIn(evidence, counts, fromMs, scores);
  return scores;
}

/** Learns a window of 100 requests at once, where the scores of baseline requests have this variance. */
export function learnIn(
  evidence: CusumBank,
  slot: number,
  scores: WindowScores,
  variance: number,
): void {
  const variances = memory.store(faultTemplates.map(() => variance));
  CusumBank.enqueue(evidence.at, slot, 0, 100, scores);
  CusumBank.learn(evidence.at, evidence, slot, variances);
}
