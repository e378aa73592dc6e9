import { describe, expect, it } from 'vitest';
import { shortMs } from '../../src/sketch/short-ms.ts';
import { seededRandom } from './seeded-random.ts';

describe('shortMs', () => {
  it('is within 0.05 %, with at most eleven significant bits, and never descends', () => {
    const random = seededRandom(1);
    const values = Array.from({ length: 5_000 }, () => 10 ** (random() * 16 - 6));
    let before = 0;
    for (const value of values.sort((a, b) => a - b)) {
      const short = shortMs(value);
      expect(Math.abs(short - value)).toBeLessThanOrEqual(value * 2 ** -11);
      const unit = 2 ** (Math.floor(Math.log2(short)) - 10);
      expect(short % unit).toBe(0);
      expect(short).toBeGreaterThanOrEqual(before);
      before = short;
    }
  });

  it('leaves whole numbers up to 2,048 as they are', () => {
    for (let ms = 0; ms <= 2_048; ms++) expect(shortMs(ms)).toBe(ms);
  });

  it('rounds up into the next octave', () => {
    expect(shortMs(4_095.9)).toBe(4_096);
  });
});
