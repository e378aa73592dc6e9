import { describe, expect, it } from 'vitest';
import { changeOf, shiftOf } from '../../../ui/src/charts/geometry/shift.ts';
import { shiftSentence } from '../../../ui/src/charts/shift-text.ts';
import { plain } from '../plain.ts';

const point = (q: number, ratio: number | null, low = ratio, high = ratio) => ({
  q,
  a_ms: 100,
  b_ms: ratio === null ? null : 100 * ratio,
  ...{ a_at_least: false, b_at_least: false },
  ratio,
  ratio_low: low,
  ratio_high: high,
});

describe('a shift function', () => {
  it('says worse or better only where the interval excludes 1', () => {
    expect(changeOf(point(0.5, 0.94, 0.92, 0.96))).toBe('better');
    expect(changeOf(point(0.99, 1.38, 1.21, 1.57))).toBe('worse');
    expect(changeOf(point(0.9, 1.02, 0.98, 1.06))).toBe('unclear');
    expect(changeOf(point(0.9, null))).toBe('unclear');
  });

  it('says at least of a side whose percentile is a lower bound', () => {
    const bound = { ...point(0.999, 1.38, 1.21, 1.57), b_at_least: true };
    expect(plain(shiftSentence(bound, 1e6, []))).toContain('at least 138 ms against 100 ms');
  });

  it('takes its colours from the ratio and has no interval where the test of an incident decides', () => {
    const wide = [point(0.5, 7.1, 0.5, 90), point(0.9, 0.8, 0.5, 2), point(0.99, 1, null, null)];
    const { points, ribbon } = shiftOf(wide, 1e6, false);
    expect(points.map(({ change }) => change)).toEqual(['worse', 'better', 'unclear']);
    expect(ribbon).toEqual([]);
    expect(plain(shiftSentence(points[0], 1e6, [], false))).toBe(
      'p50: +610 %, 710 ms against 100 ms',
    );
    const tested = shiftOf(wide, 1e6).points.map(({ change }) => change);
    expect(tested).toEqual(['unclear', 'unclear', 'unclear']);
  });

  it('holds 1 in its axis and keeps a narrow change narrow', () => {
    const { ratios } = shiftOf([point(0.5, 1.01, 0.99, 1.03)], 1e6);
    expect(ratios[0]).toBeLessThan(0.81);
    expect(ratios[1]).toBeGreaterThan(1.24);
    expect(ratios[0] * ratios[1]).toBeCloseTo(1);
  });

  it('gives each nine the same width, and leaves out what has no ratio', () => {
    const points = [point(0.01, 1), point(0.9, 1.1), point(0.99, 1.2), point(0.999, null)];
    const layout = shiftOf(points, 1e6);
    expect(layout.points.map(({ nines }) => Number(nines.toFixed(2)))).toEqual([0, 1, 2]);
    expect(layout.nines[1]).toBeCloseTo(3);
  });

  it('clips an interval that says nothing', () => {
    const { ratios, ribbon } = shiftOf([point(0.99, 2, 0.01, 900)], 1e6);
    expect(ratios[0]).toBeCloseTo(1 / 16);
    expect(ratios[1]).toBeCloseTo(16);
    expect(ribbon.map(({ edge }) => edge)).toEqual([[0.01, 900]]);
  });

  it('is hollow where few requests lie beyond a quantile, and says why', () => {
    const points = [0.5, 0.9, 0.99, 0.999].map((q) => point(q, 1.38, 1.21, 1.57));
    const thin = (requests: number) => shiftOf(points, requests).points.map(({ isThin }) => isThin);
    expect(thin(134)).toEqual([false, true, true, true]);
    expect(thin(20_000)).toEqual([false, false, false, false]);
    const said = (q: number, like: number | null) =>
      plain(shiftSentence(point(q, 1.38, 1.21, 1.57), 134, [point(q, like)]));
    expect(said(0.5, null)).toBe('p50: +38 % (+21 to +57), 138 ms against 100 ms; B is slower');
    expect(said(0.99, 1.12)).toBe(
      'p99: +38 % (+21 to +57), 138 ms against 100 ms; B is slower; like with like +12 %; 134 requests: p99 needs 2,000',
    );
  });
});
