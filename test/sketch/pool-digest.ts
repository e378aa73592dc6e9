import { digestBits, shortMs } from '../../src/sketch/short-ms.ts';
import { SketchPool, stateCentroids } from '../../src/sketch/sketch-pool.ts';
import { TDigest } from '../../src/sketch/t-digest.ts';

const pool = new SketchPool();
const means = new Float64Array(stateCentroids);
const weights = new Float64Array(stateCentroids);

/** The write side's digest of some durations, as it is stored. */
export function poolDigest(values: Iterable<number>, phase = 1): TDigest {
  pool.reset();
  const slot = pool.allocate();
  for (const value of values) pool.add(slot, value);
  const n = pool.centroids(slot, means, weights, phase);
  return TDigest.fromCentroids(
    means.subarray(0, n).map((ms) => shortMs(ms, digestBits)),
    weights,
    n,
  );
}
