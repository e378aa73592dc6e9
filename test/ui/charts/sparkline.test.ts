import { describe, expect, it } from 'vitest';
import { sparklineOf } from '../../../ui/src/charts/geometry/sparkline.ts';

describe('a sparkline', () => {
  it('of nothing is none', () => {
    expect(sparklineOf({ values: [null, null], scale: 'ratio' })).toBeUndefined();
  });

  it('has a gap for a step without value, and a dot between two gaps', () => {
    const spark = sparklineOf({ values: [2, 2, null, 2, null], scale: 'zero' });
    expect(spark?.line).toBe('M0.5 2L1.5 2M3.5 2h0.01');
    expect([spark?.least, spark?.most]).toEqual([2, 2]);
  });

  it('begins at zero for a rate', () => {
    expect(sparklineOf({ values: [0, 5, 10], scale: 'zero' })?.line).toBe('M0.5 22L1.5 12L2.5 2');
  });

  it('leaves noise flat: at least a factor of four from bottom to top', () => {
    expect(sparklineOf({ values: [100, 100], scale: 'ratio' })?.line).toBe('M0.5 12L1.5 12');
    expect(sparklineOf({ values: [100, 400], scale: 'ratio' })?.line).toBe('M0.5 22L1.5 2');
    expect(sparklineOf({ values: [10, 100, 1_000], scale: 'ratio' })?.line).toBe(
      'M0.5 22L1.5 12L2.5 2',
    );
  });

  it('marks what is far above its baseline', () => {
    const values = [100, 300, 300, 100];
    const baseline = [100, 100, 100, null];
    const spark = sparklineOf({ values, baseline, scale: 'ratio', markedFrom: 1.3 });
    expect(spark?.marked).toMatch(/^M1\.5 [\d.]+L2\.5 [\d.]+$/);
    expect(spark?.baseline).toMatch(/^M0\.5 [\d.]+L1\.5 [\d.]+L2\.5 [\d.]+$/);
  });
});
