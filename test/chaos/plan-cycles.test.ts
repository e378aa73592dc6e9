import { describe, expect, it } from 'vitest';
import { faultKinds } from './fault-kinds.ts';
import { planCycles } from './plan-cycles.ts';

const times = (plan: readonly string[]) =>
  faultKinds.map((kind) => plan.filter((planned) => planned === kind).length);

describe('planCycles', () => {
  it('plans the requested number of cycles', () => {
    expect([0, 1, 8, 100].map((cycles) => planCycles('a', cycles).length)).toEqual([0, 1, 8, 100]);
  });

  it('has each kind once in a round', () => {
    expect(times(planCycles('a', faultKinds.length))).toEqual(faultKinds.map(() => 1));
    const plan = times(planCycles('a', 100));
    expect(Math.max(...plan) - Math.min(...plan)).toBe(1);
  });

  it('is the same for the same seed, and another for another', () => {
    expect(planCycles('a', 100)).toEqual(planCycles('a', 100));
    expect(planCycles('a', 100)).not.toEqual(planCycles('b', 100));
  });

  it('keeps to the given kinds', () => {
    const plan = planCycles('a', 10, ['kill-broker', 'scale-1-4-2']);
    expect(plan.toSorted()).toEqual([
      ...Array<string>(5).fill('kill-broker'),
      ...Array<string>(5).fill('scale-1-4-2'),
    ]);
  });

  it('starts the same for any length', () => {
    expect(planCycles('a', 100).slice(0, 20)).toEqual(planCycles('a', 20));
  });
});
