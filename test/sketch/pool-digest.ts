import { SketchPool, stateCentroids } from '../../src/sketch/sketch-pool.ts';
import { TDigest } from '../../src/sketch/t-digest.ts';

const pool = new SketchPool();
const means = new Float64Array(stateCentroids);
const weights = new Float64Array(stateCentroids);

/** The write side's digest of some durations. */
export function poolDigest(values: Iterable<number>, phase = 1): TDigest {
  pool.reset();
  const slot = pool.allocate();
  for (const value of values) pool.add(slot, value);
  return TDigest.fromCentroids(means, weights, pool.centroids(slot, means, weights, phase));
}
