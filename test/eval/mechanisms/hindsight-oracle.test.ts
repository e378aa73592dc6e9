import { expect, it } from 'vitest';
import { Random } from '../../../src/generate/random.ts';
import { windowsPerDay } from '../null-families.ts';
import { HindsightOracle } from './hindsight-oracle.ts';
import { cutsOf, WindowStatistics } from './window-statistics.ts';

const windows = 3 * windowsPerDay;
const at = { from: 2 * windowsPerDay, to: 2 * windowsPerDay + 180 };

/** Thirty requests a window, slower by a factor in a share of those of the fault. */
function statisticsOf(factor: number, share = 1): ReadonlyMap<string, WindowStatistics> {
  const random = new Random('oracle');
  const hits = new Random('hits');
  const draw = (window: number) => {
    random.seek(window, 0);
    hits.seek(window, 0);
    const isFault = window >= at.from && window < at.to;
    return Array.from({ length: 30 }, () => {
      const ms = random.lognormal(50, 0.3);
      return isFault && hits.chance(share) ? ms * factor : ms;
    });
  };
  const statistics = new WindowStatistics(
    windows,
    cutsOf(Array.from({ length: 500 }, (_, w) => draw(w)).flat()),
  );
  for (let window = 0; window < windows; window++) statistics.add(window, draw(window));
  return new Map([['forward', statistics]]);
}

const oracle = new HindsightOracle(statisticsOf(1), windows);
const foundWith = (factor: number, share?: number) =>
  oracle.find(statisticsOf(factor, share), [at])[0];

it.each([
  ['a step in all requests at once', 2, 1, 1, 1],
  ['a smaller one later', 1.2, 1, 2, 6],
  ['a tail by the requests beyond a percentile', 4, 0.05, 2, 12],
])('finds %s', (_, factor, share, least, most) => {
  const found = foundWith(factor, share);
  expect(found).toBeGreaterThanOrEqual(least);
  expect(found).toBeLessThanOrEqual(most);
});

it('finds nothing where nothing is, or where it is as small as what chance does elsewhere', () => {
  expect(foundWith(1)).toBeUndefined();
  expect(foundWith(1.01)).toBeUndefined();
});

it('claims few stretches without a fault', () => {
  const stretches = Array.from({ length: 60 }, (_, i) => {
    const from = windowsPerDay + 200 + i * 270;
    return { from, to: from + 180 };
  });
  expect(oracle.sham(stretches).filter((span) => span !== undefined).length).toBeLessThanOrEqual(3);
});
