import { describe, expect, it } from 'vitest';
import { hasBeenWorse, peakText } from '../../src/contract/peak-text.ts';

const at = '2026-11-29T09:14:20.000Z';
const peak = { observed_ms: 900, ratio: 4.5, at };
const interval: [number, number] = [0, 1];

describe('the peak of an anomaly', () => {
  it('has the unit of what was measured', () => {
    const tail = { observed_ms: 400, ratio: 2 };
    expect(peakText({ ...tail, peak })).toBe('900 ms, 4.5x');
    expect(peakText(tail)).toBe('400 ms, 2.0x');
    const failures = { observed: 0.1, baseline: 0.02, ratio: 5, interval };
    const rate = { unit: 'failures per request' as const, ...failures };
    expect(peakText({ ...tail, rate, peak: { ...peak, rate: 0.2 } })).toBe('20 %, 10x');
    const traffic = { ...rate, unit: 'requests per second' as const, observed: 20 };
    expect(peakText({ ...tail, rate: traffic, peak: { ...peak, rate: 12 } })).toBe('12/s');
  });

  it('is news only where it is of another time', () => {
    const tail = { observed_ms: 400, ratio: 2, peak };
    expect(hasBeenWorse({ ...tail, measured_at: at })).toBe(false);
    expect(hasBeenWorse({ ...tail, measured_at: '2026-11-29T09:20:00.000Z' })).toBe(true);
  });
});
