import { PeakPool } from '../../src/detect/score/peak-pool.ts';
import { EvidenceWeights } from '../../src/detect/tail/evidence/evidence-weights.ts';
import { FaultEvidence } from '../../src/detect/tail/evidence/fault-evidence.ts';
import { faultTemplates } from '../../src/detect/tail/evidence/fault-templates.ts';
import { Said } from '../../src/detect/tail/evidence/window-scores.ts';
import type { TailCounts } from '../../src/detect/tail/tail-counts.ts';
import { StateMemory } from '../../src/memory/arena.ts';
import { TDigest } from '../../src/sketch/t-digest.ts';
import { detectOptions } from '../scenarios/run-scenario.ts';

const options = detectOptions();
const memory = StateMemory.shared();
/** By which nothing was weighed: of a baseline of 1,000 requests. */
const anyWeights = new EvidenceWeights(TDigest.fromCentroids([50, 80], [600, 400]));

/** As a `ShiftTest` does with what a window of 100 requests says; which fault there is most evidence for. */
export function findIn(
  evidence: FaultEvidence,
  counts: TailCounts,
  startMs: number,
  said: Said,
): number {
  return FaultEvidence.find(evidence.at, anyWeights.at, counts.at, options, startMs, 100, said);
}

/** What is found of evidence of 50 nats that began then. */
export function foundSince(counts: TailCounts, fromMs: number): Said {
  const evidence = new FaultEvidence(options.window, new PeakPool());
  const said = new Said();
  said.sums.fill(50 * evidence.restlessness(0));
  findIn(evidence, counts, fromMs, said);
  return said;
}

/** Learns a window of 100 requests at once, where what a usual request says varies by so much. */
export function learnIn(
  evidence: FaultEvidence,
  place: number,
  said: Said,
  variance: number,
): void {
  const variances = memory.keep(faultTemplates.map(() => variance));
  FaultEvidence.await(evidence.at, place, 0, 100, said);
  FaultEvidence.learn(evidence.at, evidence, place, variances);
}
