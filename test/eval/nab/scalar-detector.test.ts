import { describe, expect, it } from 'vitest';
import { Random } from '../../../src/generate/random.ts';
import { ScalarDetector } from './scalar-detector.ts';

const everyMs = 300_000;
const perDay = 288;

/** Scores of the detected records. */
function detected(valueAt: (i: number, noise: () => number) => number, records = 2_000) {
  const random = new Random('scalar');
  const detector = new ScalarDetector();
  const found = new Map<number, number>();
  for (let i = 0; i < records; i++) {
    const value = valueAt(i, () => random.normal());
    const score = detector.observe(i * everyMs, value);
    expect(score).toBeGreaterThanOrEqual(0);
    expect(score).toBeLessThan(1);
    if (score > 0) found.set(i, score);
  }
  return found;
}

describe('ScalarDetector', () => {
  it('detects nothing in a constant series', () => {
    expect(detected(() => 7).size).toBe(0);
  });

  it('detects a step at once, and once', () => {
    const found = detected((i, noise) => (i < 1_500 ? 0 : 20) + noise());
    const ofStep = [...found.keys()].filter((i) => i >= 1_500);
    expect(ofStep[0]).toBe(1_500);
    expect(ofStep.length).toBeLessThanOrEqual(2);
  });

  it('detects a fall like a rise', () => {
    const up = detected((i, noise) => (i < 1_500 ? 0 : 20) + noise());
    const down = detected((i, noise) => (i < 1_500 ? 0 : -20) - noise());
    expect(down).toEqual(up);
  });

  it('is less sure of a daily peak than of the first, or of a higher one', () => {
    const scores = detected((i, noise) => {
      const isPeak = i % perDay === perDay - 1;
      return (isPeak ? (i < 7 * perDay ? 50 : 500) : 0) + noise();
    }, 8 * perDay);
    const ofDay = (day: number) => scores.get(day * perDay - 1) ?? 0;
    expect(ofDay(1)).toBeGreaterThan(0.7);
    expect(ofDay(7)).toBeLessThan(0.5);
    expect(ofDay(8)).toBeGreaterThan(ofDay(7));
  });
});
