import { describe, expect, it } from 'vitest';
import { memoryOf } from './memory-of.ts';

describe('memoryOf', () => {
  it("equals the process's own number, within a tenth", () => {
    const { bytes, peakBytes } = memoryOf(process.pid);
    const own = process.memoryUsage.rss();
    expect(Math.abs(bytes - own)).toBeLessThan(own / 10);
    expect(peakBytes).toBeGreaterThanOrEqual(bytes);
  });

  it('throws where there is no such process', () => {
    expect(() => memoryOf(2 ** 30)).toThrow();
  });
});
