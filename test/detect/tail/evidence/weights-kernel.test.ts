import { describe, expect, it } from 'vitest';
import { weightsKernel } from '../../../../src/detect/tail/evidence/weights-kernel.ts';
import { Random } from '../../../../src/generate/random.ts';

describe('WeightsKernel', () => {
  it('has logarithms of single precision, of ratios of any size', () => {
    const random = new Random('logarithms');
    const near = (x: number) => [x, 1 / x, 1 + x * 1e-3, 1 - x * 1e-3, 1 + x * 1e-6, 2 ** (99 * x)];
    const ratios = Array.from({ length: 50_000 }, () => near(random.uniform())).flat();
    const wrong = [...ratios, Math.SQRT1_2, Math.SQRT2, 0.5, 1, 2, Math.exp(4), Math.exp(-4)]
      .map(Math.fround)
      .filter(
        (x) =>
          Math.abs(weightsKernel.log(x) - Math.log(x)) >
          1.2e-7 * Math.max(0.6, Math.abs(Math.log(x))),
      );
    expect(wrong).toEqual([]);
    expect(weightsKernel.log(1)).toBe(0);
  });
});
