import { describe, expect, it } from 'vitest';
import { Random } from '../../src/generate/random.ts';
import { Oracle } from './oracle.ts';
import { type Component, densityAt, drawMs } from './traffic-model.ts';

const usual: Component[] = [
  { weight: 0.9, medianMs: 20, sigma: 0.4 },
  { weight: 0.1, medianMs: 80, sigma: 0.4 },
];
const fault = { share: 0.3, factor: 2 };

function runOf(requests: number, isFaulty: boolean): number {
  const random = new Random(`oracle ${isFaulty}`);
  const oracle = new Oracle(1_000_000);
  for (let i = 0; i < requests; i++) {
    const ms = drawMs(usual, random);
    const slowed = isFaulty && random.chance(fault.share) ? ms * fault.factor : ms;
    oracle.take(i, slowed, usual, fault);
  }
  return oracle.foundAt;
}

describe('Oracle', () => {
  it('finds a fault after some hundred requests, and none where there is none', () => {
    const found = runOf(5_000, true);
    expect(found).toBeGreaterThan(50);
    expect(found).toBeLessThan(500);
    expect(runOf(100_000, false)).toBe(-1);
  });

  it('goes by densities that are those of what is drawn', () => {
    const random = new Random('density');
    const components: Component[] = [
      ...usual.map((part) => ({ ...part, weight: part.weight * 0.9 })),
      { weight: 0.1, medianMs: 50, sigma: 1.5, isPareto: true },
    ];
    const draws = Array.from({ length: 200_000 }, () => drawMs(components, random));
    for (const [low, high] of [
      [10, 20],
      [40, 60],
      [100, 400],
    ] as const) {
      let mass = 0;
      const steps = 4_000;
      for (let i = 0; i < steps; i++) {
        mass += densityAt(low + ((high - low) * (i + 0.5)) / steps, components);
      }
      mass *= (high - low) / steps;
      const seen = draws.filter((ms) => ms >= low && ms < high).length / draws.length;
      expect(Math.abs(seen - mass)).toBeLessThan(0.004);
    }
  });
});
