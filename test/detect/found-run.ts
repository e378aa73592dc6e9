import { EvidenceWeights } from '../../src/detect/evidence-weights.ts';
import { FaultEvidence } from '../../src/detect/fault-evidence.ts';
import { Said } from '../../src/detect/said.ts';
import type { TailCounts } from '../../src/detect/tail-counts.ts';
import { TDigest } from '../../src/sketch/t-digest.ts';

/** By which nothing was weighed: of a baseline of 1,000 requests. */
export const anyWeights = new EvidenceWeights(TDigest.fromCentroids([50, 80], [600, 400]));

/** What is found of evidence of 50 nats that began then. */
export function foundSince(counts: TailCounts, fromMs: number): Said {
  const evidence = new FaultEvidence(counts.windowMs, { peaks: 0, excess: 0 });
  const said = new Said();
  said.sums.fill(50 * evidence.restlessness(0));
  evidence.find(anyWeights, counts, fromMs, 100, said);
  return said;
}
