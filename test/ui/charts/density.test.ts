import { describe, expect, it } from 'vitest';
import { densityOf, depthOf } from '../../../ui/src/charts/geometry/density.ts';
import { distributionOf } from '../../../ui/src/charts/geometry/distribution.ts';

const range = { from: '2026-11-01T10:00:00Z', to: '2026-11-01T10:03:00Z', step_seconds: 60 };
const windows = { final: 0, provisional: 0, open: 0 };

describe('a density chart', () => {
  it('of nothing has no bands', () => {
    const density = densityOf({ rows: [], range, windows });
    expect(density.bands).toEqual([0, 0]);
    expect(density.requests).toEqual([0, 0, 0]);
  });

  it('colours the share of the column, so that a busy minute is not a slow one', () => {
    const bands = (factor: number) => [
      { band: 8, from_ms: 4, requests: 90 * factor },
      { band: 20, from_ms: 32, requests: 10 * factor },
    ];
    const rows = [
      { at: '2026-11-01T10:00:00Z', state: 'final' as const, requests: 100, bands: bands(1) },
      { at: '2026-11-01T10:01:00Z', state: 'open' as const, requests: 5000, bands: bands(50) },
    ];
    const density = densityOf({ rows, range, windows: { ...windows, open: 2 } });
    expect(density.cells.map(({ share }) => share)).toEqual([0.9, 0.1, 0.9, 0.1]);
    expect(density.bands).toEqual([8, 21]);
    expect(density.states).toEqual(['final', 'open', 'open']);
    expect(density.notStored?.fromMs).toBe(Date.parse('2026-11-01T10:02:00Z'));
  });

  it('shows 1 in 1,000', () => {
    expect(depthOf(0)).toBe(0);
    expect(depthOf(0.001)).toBeCloseTo(0.25);
    expect(depthOf(1e-9)).toBeGreaterThan(0);
    expect(depthOf(1)).toBe(1);
  });
});

describe('a distribution', () => {
  it('of nothing has no bars', () => {
    expect(distributionOf([]).bars).toEqual([]);
  });

  it('compares shares, and holds the empty bands between', () => {
    const { bars, before, during, mostShare } = distributionOf([
      { from_ms: 16, before: 750, during: 10 },
      { from_ms: 32, before: 250, during: 30 },
    ]);
    expect([before, during, mostShare]).toEqual([1000, 40, 0.75]);
    expect(bars).toHaveLength(5);
    expect(bars[0]).toMatchObject({ beforeShare: 0.75, duringShare: 0.25 });
    expect(bars[2]).toMatchObject({ before: 0, during: 0 });
    expect(bars[4]).toMatchObject({ beforeShare: 0.25, duringShare: 0.75, from_ms: 32 });
  });
});
