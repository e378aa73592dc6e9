import { TDigest } from '../../src/sketch/t-digest.ts';

interface Centroid {
  mean: number;
  weight: number;
}

/**
 * Emulates ClickHouse's merge of states, after its documentation and source. All centroids are sorted by
 * mean. Neighbours are joined while their weight is at most 4 epsilon N min q(1-q) with epsilon 0.01, in
 * Float32. The interpolation is that of TDigest. This emulation is for accuracy only; the contract itself is
 * tested against the real server.
 */
export function clickhouseMerge(digests: readonly TDigest[]): TDigest {
  const centroids: Centroid[] = [];
  let total = 0;
  for (const { means, weights } of digests) {
    for (const [i, mean] of means.entries()) {
      const weight = weights[i] ?? 0;
      centroids.push({ mean: Math.fround(mean), weight });
      total += weight;
    }
  }
  centroids.sort((a, b) => a.mean - b.mean);
  const joined: Centroid[] = [];
  let current: Centroid | undefined;
  let below = 0;
  const spread = (rank: number) => (rank / total) * (1 - rank / total);
  for (const next of centroids) {
    if (current === undefined) {
      current = { ...next };
      continue;
    }
    const here = spread(below + current.weight / 2);
    const there = spread(below + current.weight + next.weight / 2);
    const weight: number = current.weight + next.weight;
    if (weight <= 0.04 * total * Math.min(here, there)) {
      current.mean = Math.fround(
        current.mean + (next.weight * (next.mean - current.mean)) / weight,
      );
      current.weight = weight;
    } else {
      below += current.weight;
      joined.push(current);
      current = { ...next };
    }
  }
  if (current !== undefined) joined.push(current);
  return TDigest.fromCentroids(
    joined.map(({ mean }) => mean),
    joined.map(({ weight }) => weight),
    joined.length,
  );
}
