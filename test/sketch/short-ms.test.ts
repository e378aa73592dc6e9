import { describe, expect, it } from 'vitest';
import { bandBits, digestBits, shortMs } from '../../src/sketch/short-ms.ts';
import { weyl32 } from '../base/seeded-random.ts';

describe('shortMs', () => {
  it.each([
    [digestBits, 0.004],
    [bandBits, 0.0005],
  ])('%i significant bits are within %d of the value, and never descend', (bits, bound) => {
    const random = weyl32(1);
    const values = Array.from({ length: 5_000 }, () => 10 ** (random() * 16 - 6));
    let before = 0;
    for (const value of values.sort((a, b) => a - b)) {
      const short = shortMs(value, bits);
      expect(Math.abs(short - value)).toBeLessThanOrEqual(value * bound);
      const unit = 2 ** (Math.floor(Math.log2(short)) - bits + 1);
      expect(short % unit).toBe(0);
      expect(short).toBeGreaterThanOrEqual(before);
      before = short;
    }
  });

  it.each([
    [digestBits, 256],
    [bandBits, 2_048],
  ])('%i significant bits leave whole numbers up to %i as they are', (bits, largest) => {
    for (let ms = 0; ms <= largest; ms++) expect(shortMs(ms, bits)).toBe(ms);
  });

  it('rounds up into the next octave', () => {
    expect(shortMs(4_095.9, bandBits)).toBe(4_096);
    expect(shortMs(1_022, digestBits)).toBe(1_024);
  });
});
