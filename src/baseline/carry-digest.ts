import { TDigest } from '../sketch/t-digest.ts';
import type { StateArchive } from './state-archive.ts';

const nothing = TDigest.fromCentroids([], []);

export function carryDigest(state: StateArchive, digest: TDigest = nothing): TDigest {
  const means = state.numbers(digest.means);
  const weights = state.numbers(digest.weights);
  return digest === nothing ? TDigest.fromCentroids(means, weights) : digest;
}
