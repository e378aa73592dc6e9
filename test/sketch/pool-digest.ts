import { SketchPool } from '../../src/sketch/sketch-pool.ts';
import { TDigest } from '../../src/sketch/t-digest.ts';

const pool = new SketchPool();
const means = new Float64Array(51);
const weights = new Float64Array(51);

/** What the write side makes of some durations: a digest of at most 51 centroids. */
export function poolDigest(values: Iterable<number>, phase = 1): TDigest {
  pool.reset();
  const slot = pool.allocate();
  for (const value of values) pool.add(slot, value);
  return TDigest.fromCentroids(means, weights, pool.centroids(slot, means, weights, phase));
}
