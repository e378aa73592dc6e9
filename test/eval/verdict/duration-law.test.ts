import { expect, it } from 'vitest';
import { bimodal, DurationTable, lognormal, pareto, slowBranch, wide } from './duration-law.ts';

it.each([lognormal, slowBranch, wide, pareto, bimodal])(
  'durations of $name are exceeded by the share that they are drawn for',
  (law) => {
    const table = new DurationTable(law);
    for (const share of [0.999, 0.9, 0.5, 0.0512, 0.01, 0.001, 1e-4]) {
      const ms = table.msAt(Math.log(share / (1 - share)));
      expect(law.above(ms) / share).toBeCloseTo(1, 2);
    }
  },
);

it('a lognormal has its quantiles', () => {
  expect(lognormal.above(80)).toBeCloseTo(0.5, 6);
  expect(lognormal.above(80 * Math.exp(0.5 * 2.3263479))).toBeCloseTo(0.01, 6);
});
