import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blame, unaccounted } from '../../src/detect/blame.ts';
import { summarizeWindow } from '../scenarios/summarize-window.ts';

const series = {
  ...{ service: '', model: 'm', version: '', request_type: '', region: '', host: '' },
  ...{ tenant: '', cold_start: false },
};

/** A window of requests given as stages' ms; what is not in a stage goes to the total alone. */
function stagesOf(requests: readonly (readonly [queue: number, forward: number, rest: number])[]) {
  const stages = new Map<string, number[]>([
    ['queue', requests.map(([queue]) => queue)],
    ['forward', requests.map(([, forward]) => forward)],
    ['total', requests.map(([queue, forward, rest]) => queue + forward + rest)],
  ]);
  return summarizeWindow({ series, windowStartMs: 0, windowMs: 10_000, stages }).stages;
}

describe('blame', () => {
  it('has nothing to say without totals or without excess', () => {
    const usual = stagesOf([[1, 10, 0]]);
    const partial = new Map([...usual].filter(([stage]) => stage !== 'total'));
    expect(blame(partial, usual, 0.5)).toBeUndefined();
    expect(blame(usual, partial, 0.5)).toBeUndefined();
    expect(blame(usual, usual, 0.5)).toBeUndefined();
  });

  it('splits the slowest half exactly, the border band by its part', () => {
    // Totals 3 | 12 12 | 40: the slowest half is the 40 and one of the two 12s.
    const usual = stagesOf([
      [1, 2, 0],
      [2, 10, 0],
      [4, 8, 0],
      [10, 30, 0],
    ]);
    const now = stagesOf([
      [1, 2, 0],
      [2, 10, 0],
      [80, 20, 4],
      [100, 30, 0],
    ]);
    // Usually: queue (10 + (2 + 4) / 2) / 2 = 6.5, forward (30 + (10 + 8) / 2) / 2 = 19.5.
    // Now: queue 90, forward 25, 2 in no stage.
    expect(blame(now, usual, 0.5)).toEqual([
      { stage: 'queue', excess_ms: 83.5, share: 83.5 / 91 },
      { stage: 'forward', excess_ms: 5.5, share: 5.5 / 91 },
      { stage: unaccounted, excess_ms: 2, share: 2 / 91 },
    ]);
  });

  it('gives parts that add up to the excess of the slowest requests', () => {
    const ms = fc.double({ min: 0.01, max: 5_000, noNaN: true });
    const requests = fc.array(fc.tuple(ms, ms, ms), { minLength: 1, maxLength: 60 });
    const q = fc.constantFrom(0.5, 0.9, 0.95, 0.99);
    fc.assert(
      fc.property(requests, requests, q, (nowRequests, usualRequests, quantile) => {
        const now = stagesOf(nowRequests);
        const usual = stagesOf(usualRequests);
        const parts = blame(now, usual, quantile);
        const excess = slowestMean(now, 1 - quantile) - slowestMean(usual, 1 - quantile);
        if (parts === undefined) {
          expect(excess).toBeLessThanOrEqual(1e-6);
          return;
        }
        const sum = parts.reduce((total, part) => total + part.excess_ms, 0);
        expect(Math.abs(sum - excess)).toBeLessThan(1e-6 * Math.max(1, excess));
        const scale = parts.reduce((most, part) => Math.max(most, Math.abs(part.share)), 1);
        const shares = parts.reduce((total, part) => total + part.share, 0);
        expect(Math.abs(shares - 1)).toBeLessThan(1e-8 * scale);
      }),
      { seed: 3 },
    );
  });
});

/** Mean total of the slowest share, by walking one request's worth of weight after the other. */
function slowestMean(stages: ReturnType<typeof stagesOf>, share: number): number {
  const total = stages.get('total')!;
  let left = share * total.requests;
  let sum = 0;
  for (let i = total.bands.bands.length - 1; i >= 0; i--) {
    const inBand = total.bands.amounts[i]!;
    const taken = Math.min(left, inBand);
    sum += (total.bandsMs.amounts[i]! / inBand) * taken;
    left -= taken;
  }
  return sum / (share * total.requests);
}
