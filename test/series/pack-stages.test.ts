import { expect, it } from 'vitest';
import { packStages } from '../../src/series/pack-stages.ts';
import type { StageSummary } from '../../src/series/series-window.ts';
import { TDigest } from '../../src/sketch/t-digest.ts';

it('packStages gives stages by name, as they were but for means, which are floats in one array', () => {
  const none = { bands: [], amounts: [] };
  const stage = (name: string, digest: TDigest): StageSummary => ({
    ...{ stage: name, requests: 3, errors: 2, timeouts: 1, cancelled: 0 },
    ...{ sumMs: 9.9, minMs: 0.1, maxMs: 9.7, digest, bands: none, bandsMs: none },
  });
  const [queue, total] = [
    stage('queue', TDigest.fromCentroids([0.1, 0.2], [1, 2])),
    stage('total', TDigest.fromCentroids([], [])),
  ];
  const packed = packStages([queue, total]);
  const [first, second] = [...packed.values()].map(({ digest }) => digest);
  expect(first?.centroids).toEqual(Float32Array.of(0.1, 0.2, 1, 2));
  expect(second?.centroids).toBe(first?.centroids);
  expect([first, second].map((digest) => [digest?.from, digest?.size])).toEqual([
    [0, 2],
    [4, 0],
  ]);
  expect(packed).toEqual(
    new Map([
      ['queue', { ...queue, digest: first }],
      ['total', { ...total, digest: second }],
    ]),
  );
});
