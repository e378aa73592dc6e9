import { describe, expect, it } from 'vitest';
import { slowParts, trueRatio } from './run-delay.ts';

const outage = { stage: 'forward', share: 1, factor: 10 };

describe('trueRatio', () => {
  it('is the factor where all requests are slow', () => {
    expect(trueRatio(outage, 0.95)).toBe(10);
    expect(trueRatio({ ...outage, factor: 1 }, 0.99)).toBe(1);
  });

  it('is three at the p95 of the parts that are to show it', () => {
    const ratios = slowParts.slice(1, 4).map((part) => trueRatio(part, 0.95));
    for (const ratio of ratios) expect(Math.abs(ratio - 3)).toBeLessThan(0.1);
  });
});
