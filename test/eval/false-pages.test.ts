import { describe, expect, it } from 'vitest';
import { nullFamilies } from './null-families.ts';
import { runSeries } from './run-series.ts';

// The short form of `npm run eval` where nothing is wrong, on seeds of its own.
const seed = 500_000;

// Until the weekend, and until the clock is changed, these are diurnal.
const laterOnly = ['weekly', 'dst'];
// A day is for learning, and what has many requests takes long.
const daysOf = (family: string) => {
  if (family === 'cron job') return 2;
  return ['busy', 'dispersion 5', 'dispersion 20'].includes(family) ? 1.25 : 1.5;
};

describe('the detector, where nothing is wrong', { timeout: 240_000 }, () => {
  const families = nullFamilies.map(({ name }) => name).filter((name) => !laterOnly.includes(name));

  it.each(families)('is quiet: %s', (family) => {
    const { falsePages } = runSeries({ family, seed, days: daysOf(family) });
    const pages = falsePages.map(({ summary }) => summary);
    // What comes at the same time of day is told once.
    if (family === 'cron job') expect(pages.length).toBeLessThanOrEqual(1);
    else expect(pages).toEqual([]);
  });

  // The second one was clear four minutes later on the first day than on the second, the third one never; the
  // last two series begin in the midst of it.
  it.each([4_000_002, 11_000_001, 12_000_002, 13_000_055, 13_000_066])(
    'knows a cron job the next day that first came in the first hour of a series: %i',
    (known) => {
      const { falsePages } = runSeries({ family: 'cron job', seed: known, days: 2 });
      expect(falsePages).toEqual([]);
    },
  );

  it('takes a burst of the second day for one of those of which it has seen few', () => {
    const { falsePages } = runSeries({ family: 'shocks', seed: 530, days: 1.5 });
    expect(falsePages).toEqual([]);
  });

  it('takes a morning that an hour of baseline is behind of for no fault', () => {
    const { falsePages } = runSeries({ family: 'weekly', seed: 13_000_052, days: 6.8 });
    expect(falsePages).toEqual([]);
  });

  it('asks for more of what grows for minutes where traffic swings', () => {
    const { falsePages } = runSeries({ family: 'swing of an hour', seed: 13_000_061, days: 1.25 });
    expect(falsePages).toEqual([]);
  });

  it('waits out a swing that grows for an hour', () => {
    const { falsePages } = runSeries({ family: 'swing of an hour', seed: 5_000_001, days: 1.5 });
    expect(falsePages).toEqual([]);
  });
});
