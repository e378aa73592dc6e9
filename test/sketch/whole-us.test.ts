import { describe, expect, it } from 'vitest';
import { wholeUs } from '../../src/sketch/whole-us.ts';
import { weyl32 } from '../base/seeded-random.ts';

describe('microseconds of a duration', () => {
  const half = 0.5 / 1000;
  const whole = 2 ** 52 / 1000;
  it.each([
    ...[
      0,
      0.0004,
      half,
      0.0015,
      0.0025,
      0.0035,
      half - 2 ** -64,
      half + 2 ** -62,
      1,
      1e-300,
      3_600_000,
    ],
    ...[whole - 1, whole - half, whole, whole + half, whole * 2, 1e300, Number.MAX_VALUE],
  ])('of %d ms equal Math.round', (ms) => {
    expect(wholeUs(ms)).toBe(Math.round(ms * 1000));
  });

  it('do so for 100,000 durations of any size, halves among them', () => {
    const random = weyl32(3);
    for (let i = 0; i < 100_000; i++) {
      const size = 10 ** Math.floor(random() * 16 - 6);
      const ms = i % 2 === 0 ? random() * size : (Math.floor(random() * size * 2) + 0.5) / 1000;
      if (wholeUs(ms) !== Math.round(ms * 1000))
        expect(wholeUs(ms), String(ms)).toBe(Math.round(ms * 1000));
    }
  });
});
