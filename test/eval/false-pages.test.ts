import { describe, expect, it } from 'vitest';
import { pagesOf } from './pages-without-faults.ts';

// The other kinds of traffic are in false-pages.slow.test.ts.
describe('the detector, without faults', () => {
  it.each(['independent', 'diurnal', 'shocks'])('pages nothing: %s', (family) => {
    expect(pagesOf(family, 1.25)).toEqual([]);
  });

  it('recognizes on the next day a cron job of the first hour of a series', () => {
    // The series starts during it.
    expect(pagesOf('cron job', 2, 13_000_055)).toEqual([]);
  });
});
