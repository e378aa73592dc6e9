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
/** By which nothing was weighed: of a baseline of 1,000 requests. */
const anyWeights = new EvidenceWeights(TDigest.fromCentroids([50, 80], [600, 400]));

/** As a `ShiftTest` does with what a window of 100 requests says; which fault there is most evidence for. */
export function findIn(
  evidence: CusumBank,
  counts: TailCounts,
  startMs: number,
  said: WindowScores,
): number {
  return CusumBank.find(evidence.at, anyWeights.at, counts.at, options, startMs, 100, said);
}

/** What is found of evidence of 50 nats that began then. */
export function foundSince(counts: TailCounts, fromMs: number): WindowScores {
  const evidence = new CusumBank(options.window, new PeakPool());
  const said = new WindowScores();
  said.sums.fill(50 * evidence.varianceInflation(0));
  findIn(evidence, counts, fromMs, said);
  return said;
}

/** Learns a window of 100 requests at once, where what a usual request says varies by so much. */
export function learnIn(
  evidence: CusumBank,
  place: number,
  said: WindowScores,
  variance: number,
): void {
  const variances = memory.keep(faultTemplates.map(() => variance));
  CusumBank.await(evidence.at, place, 0, 100, said);
  CusumBank.learn(evidence.at, evidence, place, variances);
}
