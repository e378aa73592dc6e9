import { describe, expect, it } from 'vitest';
import { nullFamilies } from './null-families.ts';
import { pagesOf } from './pages-without-faults.ts';

// Before the weekend, and before the change of the clock, these are diurnal.
const laterOnly = ['weekly', 'dst'];

describe('the detector, without faults', () => {
  const families = nullFamilies
    .map(({ name }) => name)
    .filter((name) => !laterOnly.includes(name) && name !== 'cron job');

  // A day is for learning.
  it.each(families)('pages nothing: %s', (family) => {
    expect(pagesOf(family, 1.25)).toEqual([]);
  });

  it('opens a recurrence at the same time of day at most once: cron job', () => {
    expect(pagesOf('cron job', 2).length).toBeLessThanOrEqual(1);
  });

  // The second one was clear four minutes later on the first day than on the second, and the third one never.
  // The last two series start during it.
  it.each([4_000_002, 11_000_001, 12_000_002, 13_000_055, 13_000_066])(
    'recognizes on the next day a cron job of the first hour of a series: %i',
    (seed) => {
      expect(pagesOf('cron job', 2, seed)).toEqual([]);
    },
  );

  it('counts a burst of the second day among the few known bursts', () => {
    expect(pagesOf('shocks', 1.5, 530)).toEqual([]);
  });

  it('opens nothing for a morning that an hour of baseline lags behind', () => {
    expect(pagesOf('weekly', 6.8, 13_000_052)).toEqual([]);
  });

  it('requires more of growth over minutes where traffic is non-stationary', () => {
    expect(pagesOf('swing of an hour', 1.25, 13_000_061)).toEqual([]);
  });

  it('waits out a swing that grows for an hour', () => {
    expect(pagesOf('swing of an hour', 1.5, 5_000_001)).toEqual([]);
  });
});
