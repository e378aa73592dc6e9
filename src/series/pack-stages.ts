import { PackedDigests } from '../sketch/packed-digests.ts';
import type { TDigest } from '../sketch/t-digest.ts';
import type { StageSummary } from './series-window.ts';

const packed = new PackedDigests();

/** Maps the stages of one series' window by name, with their digests as floats in one array. */
export function packStages(stages: readonly StageSummary[]): Map<string, StageSummary> {
  for (const { digest } of stages) packed.add(digest.means, digest.weights);
  const digests = packed.drain();
  return new Map(
    stages.map((summary, i) => [summary.stage, { ...summary, digest: digests[i] as TDigest }]),
  );
}
