import { describe, expect, it } from 'vitest';
import { Random } from '../../src/generate/random.ts';
import { LatentFilter } from './latent-filter.ts';
import { normalChain } from './normal-chain.ts';

describe('normalChain', () => {
  it.each([0, 0.85, 0.9995])(
    'with autocorrelation %d has the moments of a standard normal',
    (keep) => {
      const { levels, chain } = normalChain(keep, 41);
      const mean = (of: (level: number) => number, weights: ArrayLike<number>) =>
        levels.reduce((sum, level, i) => sum + of(level) * (weights[i] as number), 0);
      expect(mean(() => 1, chain.stationary)).toBeCloseTo(1, 12);
      expect(mean((level) => level, chain.stationary)).toBeCloseTo(0, 12);
      expect(mean((level) => level ** 2, chain.stationary)).toBeCloseTo(1, 12);
      for (const [i, p] of chain.step(chain.stationary).entries()) {
        expect(p).toBeCloseTo(chain.stationary[i] as number, 12);
      }
      // From each level it continues as an autoregression does, in mean and spread.
      let spread = 0;
      for (const [i, level] of levels.entries()) {
        const next = chain.step(Float64Array.from(levels, (_, at) => (at === i ? 1 : 0)));
        expect(mean(() => 1, next)).toBeCloseTo(1, 12);
        expect(mean((to) => to, next)).toBeCloseTo(keep * level, 10);
        spread += (chain.stationary[i] as number) * mean((to) => (to - keep * level) ** 2, next);
      }
      expect(spread).toBeCloseTo(1 - keep ** 2, 10);
    },
  );

  // Requests a window, deviation of their logarithm, windows of memory: as in the families.
  it.each([
    [10, 1, 0],
    [1, 0.5, 6],
    [3, 0.5, 2160],
  ])('is fine enough with 101 levels: %d, %d, %d', (requests, sigma, memoryWindows) => {
    const keep = memoryWindows === 0 ? 0 : Math.exp(-1 / memoryWindows);
    const random = new Random('levels');
    let latest = random.normal();
    const counts = Array.from({ length: 1_000 }, () => {
      latest = keep * latest + Math.sqrt(1 - keep ** 2) * random.normal();
      return random.poisson(requests * Math.exp(sigma * latest));
    });
    const logDensityBy = (states: number) => {
      const { levels, chain } = normalChain(keep, states);
      const filter = new LatentFilter(chain);
      const means = Float64Array.from(levels, (level) => requests * Math.exp(sigma * level));
      const logOf = (count: number) => means.map((mean) => count * Math.log(mean) - mean);
      return counts.reduce((sum, count) => sum + filter.observe(logOf(count)), 0);
    };
    expect(Math.abs(logDensityBy(101) - logDensityBy(151))).toBeLessThan(1);
  });
});
