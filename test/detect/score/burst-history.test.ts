import { describe, expect, it } from 'vitest';
import { dayMs } from '../../../src/base/time.ts';
import { BurstHistory } from '../../../src/detect/score/burst-history.ts';

const windowMs = 10_000;

/** A burst that reaches `peak` after half of so many windows and then ends; returns the level at each. */
function episode(episodes: BurstHistory, fromMs: number, windows: number, peak: number): number[] {
  const levels: number[] = [];
  for (let at = 0; at < windows + 6; at++) {
    const score = at < windows ? Math.min(peak, (2 * peak * (at + 1)) / windows) : 0;
    episodes.observe(fromMs + at * windowMs, score);
    levels.push(episodes.level(fromMs + at * windowMs));
  }
  return levels;
}

describe('BurstHistory', () => {
  it('is empty until three bursts came', () => {
    const episodes = new BurstHistory();
    for (let n = 0; n < 3; n++) {
      expect(Math.max(...episode(episodes, n * dayMs, 6, 100))).toBe(0);
    }
    expect(Math.max(...episode(episodes, 3 * dayMs, 6, 100))).toBe(150);
  });

  it('requires more than the second highest burst', () => {
    const episodes = new BurstHistory();
    [40, 1000, 60].forEach((peak, n) => {
      episode(episodes, n * dayMs, 6, peak);
    });
    expect(episode(episodes, 3 * dayMs, 6, 50)[0]).toBe(90);
  });

  it('ignores bursts of ten minutes or more, and forgets short ones after two weeks', () => {
    const long = new BurstHistory();
    for (let n = 0; n < 4; n++) episode(long, n * dayMs, 150, 1000);
    expect(Math.max(...episode(long, 4 * dayMs, 6, 100))).toBe(0);
    const old = new BurstHistory();
    for (let n = 0; n < 3; n++) episode(old, n * dayMs, 6, 100);
    // The end of a burst drops those that are too old.
    episode(old, 20 * dayMs, 6, 100);
    expect(Math.max(...episode(old, 21 * dayMs, 6, 100))).toBe(0);
  });
});
