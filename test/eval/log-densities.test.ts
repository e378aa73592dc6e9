import { describe, expect, it } from 'vitest';
import { Random } from '../../src/generate/random.ts';
import { logDensities } from './log-densities.ts';
import { type Component, drawMs, partDensityAt } from './traffic-model.ts';

const mixture = (slow: number): Component[] => [
  { weight: 0.9 - slow, medianMs: 20, sigma: 0.4 },
  { weight: slow, medianMs: 80, sigma: 0.4 },
  { weight: 0.1, medianMs: 50, sigma: 1.5, isPareto: true },
];

describe('logDensities', () => {
  const random = new Random('log densities');
  const durations = Array.from({ length: 500 }, () => drawMs(mixture(0.2), random));

  it('are the sums over requests in each state, with and without a fault', () => {
    const states = [0.01, 0.2, 0.6].map(mixture);
    const densityAt = (ms: number, state: readonly Component[]) =>
      state.reduce((sum, part) => sum + part.weight * partDensityAt(ms, part), 0);
    for (const [share, factor] of [
      [0, 1],
      [0.3, 2],
      [1, 1.3],
    ] as const) {
      const expected = states.map((state) =>
        durations
          .map(
            (ms) =>
              (1 - share) * densityAt(ms, state) + (share * densityAt(ms / factor, state)) / factor,
          )
          .reduce((sum, density) => sum + Math.log(density), 0),
      );
      const logs = logDensities(durations, states, { share, factor });
      for (const [i, log] of logs.entries()) expect(log).toBeCloseTo(expected[i] as number, 9);
    }
  });

  it('are 0 without requests, and -Infinity for impossible ones', () => {
    expect([...logDensities([], [0.1, 0.2].map(mixture))]).toEqual([0, 0]);
    const pareto: Component[] = [{ weight: 1, medianMs: 50, sigma: 1.5, isPareto: true }];
    expect([...logDensities([60, 40], [pareto])]).toEqual([Number.NEGATIVE_INFINITY]);
  });

  it('match the drawn requests', () => {
    const draws = Array.from({ length: 200_000 }, () => drawMs(mixture(0.1), random));
    const steps = 4_000;
    for (const [low, high] of [
      [10, 20],
      [40, 60],
      [100, 400],
    ] as const) {
      let mass = 0;
      for (let i = 0; i < steps; i++) {
        const ms = low + ((high - low) * (i + 0.5)) / steps;
        mass += (Math.exp(logDensities([ms], [mixture(0.1)])[0] as number) * (high - low)) / steps;
      }
      const seen = draws.filter((ms) => ms >= low && ms < high).length / draws.length;
      expect(Math.abs(seen - mass)).toBeLessThan(0.004);
    }
  });
});
