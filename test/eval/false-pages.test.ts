import { describe, expect, it } from 'vitest';
import { nullFamilies } from './null-families.ts';
import { runSeries } from './run-series.ts';

// The short form of `npm run eval` without faults, on its own seeds.
const seed = 500_000;

// Before the weekend, and before the change of the clock, these are diurnal.
const laterOnly = ['weekly', 'dst'];
// A day is for learning, and a cron job comes back on the second.
const daysOf = (family: string) => (family === 'cron job' ? 2 : 1.25);

describe('the detector, without faults', () => {
  const families = nullFamilies.map(({ name }) => name).filter((name) => !laterOnly.includes(name));

  it.each(families)('pages nothing: %s', (family) => {
    const { falsePages } = runSeries({ family, seed, days: daysOf(family) });
    const pages = falsePages.map(({ summary }) => summary);
    // A recurrence at the same time of day opens once.
    if (family === 'cron job') expect(pages.length).toBeLessThanOrEqual(1);
    else expect(pages).toEqual([]);
  });

  // The second one was clear four minutes later on the first day than on the second, and the third one never.
  // The last two series start during it.
  it.each([4_000_002, 11_000_001, 12_000_002, 13_000_055, 13_000_066])(
    'recognizes on the next day a cron job of the first hour of a series: %i',
    (known) => {
      const { falsePages } = runSeries({ family: 'cron job', seed: known, days: 2 });
      expect(falsePages).toEqual([]);
    },
  );

  it('counts a burst of the second day among the few known bursts', () => {
    const { falsePages } = runSeries({ family: 'shocks', seed: 530, days: 1.5 });
    expect(falsePages).toEqual([]);
  });

  it('opens nothing for a morning that an hour of baseline lags behind', () => {
    const { falsePages } = runSeries({ family: 'weekly', seed: 13_000_052, days: 6.8 });
    expect(falsePages).toEqual([]);
  });

  it('requires more of growth over minutes where traffic is non-stationary', () => {
    const { falsePages } = runSeries({ family: 'swing of an hour', seed: 13_000_061, days: 1.25 });
    expect(falsePages).toEqual([]);
  });

  it('waits out a swing that grows for an hour', () => {
    const { falsePages } = runSeries({ family: 'swing of an hour', seed: 5_000_001, days: 1.5 });
    expect(falsePages).toEqual([]);
  });
});
