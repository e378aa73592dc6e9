import { describe, expect, it } from 'vitest';
import { LocalLevel } from '../../../src/detect/score/local-level.ts';
import { Random } from '../../../src/generate/random.ts';

const requests = 100;
const variance = 0.04;

/** Learns windows whose requests score `level(window)` above the mean, and chance. */
function learnt(windows: number, level: (window: number) => number, seed = 1): LocalLevel {
  const random = new Random(`drift ${seed}`);
  const drift = new LocalLevel(1);
  const noise = Math.sqrt(requests * variance);
  for (let window = 0; window < windows; window++) {
    const excess = requests * level(window) + noise * random.normal();
    if (drift.observe(requests, Float64Array.of(excess))) drift.update(() => variance);
  }
  return drift;
}

describe('LocalLevel', () => {
  it('predicts 0 where only chance moves the scores, and subtracts nothing', () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const drift = learnt(8_640, () => 0, seed);
      expect(drift.level(0)).toBe(0);
      expect(drift.spread(0)).toBe(1);
    }
  });

  it('follows a moving level, five minutes behind', () => {
    const slow = (window: number) => 0.2 * Math.sin(window / 700);
    const drift = learnt(9_900, slow);
    expect(slow(9_855)).toBeGreaterThan(0.19);
    expect(Math.abs(drift.level(0) - slow(9_855))).toBeLessThan(0.05);
  });

  it('does not follow one fault of 20 minutes in a stationary past', () => {
    expect(learnt(8_640, (window) => (window >= 8_520 ? 0.2 : 0)).level(0)).toBe(0);
  });

  it('reports the spread of minutes beyond the predicted level', () => {
    const random = new Random('jumps');
    let level = 0;
    const drift = learnt(8_640, (window) => {
      if (window % 30 === 0) level = 0.06 * random.normal();
      return level;
    });
    expect(drift.spread(0)).toBeGreaterThan(5);
    expect(drift.nonStationarity).toBe(1);
  });

  it('reports that the level moves, although it is predicted; and not for chance', () => {
    const drift = learnt(8_640, (window) => 0.2 * Math.sin(window / 700));
    expect(drift.levelVariation).toBe(1);
    for (const seed of [1, 2, 3, 4, 5]) expect(learnt(8_640, () => 0, seed).levelVariation).toBe(0);
  });

  it('reports the predicted part of the movement: most of a slow one, none of a jump or of chance', () => {
    const slow = learnt(8_640, (window) => 0.2 * Math.sin(window / 700));
    expect(slow.predictability).toBeGreaterThan(0.8);
    const random = new Random('each block');
    let level = 0;
    const jumps = learnt(8_640, (window) => {
      if (window % 30 === 0) level = 0.06 * random.normal();
      return level;
    });
    expect(jumps.predictability).toBeLessThan(0.15);
    for (const seed of [1, 2, 3, 4, 5]) expect(learnt(8_640, () => 0, seed).predictability).toBe(0);
  });

  it('follows a level that moves little where another one surely moves', () => {
    const beside = (amplitude: number) => {
      const random = new Random('beside');
      const drift = new LocalLevel(2);
      const noise = () => Math.sqrt(requests * variance) * random.normal();
      for (let window = 0; window < 8_640; window++) {
        const slow = Math.sin(window / 700);
        const sums = [0.003, amplitude].map((each) => requests * each * slow + noise());
        if (drift.observe(requests, Float64Array.from(sums))) drift.update(() => variance);
      }
      return { level: drift.level(0), spread: drift.spread(0) };
    };
    expect(beside(0)).toEqual({ level: 0, spread: 1 });
    const { level, spread } = beside(0.2);
    expect(level).not.toBe(0);
    // The spread expected by chance.
    expect(spread).toBeGreaterThan(1);
    expect(spread).toBeLessThan(1.5);
  });

  it('is cautious before it has learnt, and passes on what it has learnt', () => {
    const young = new LocalLevel(1);
    expect(young.spread(0)).toBe(2);
    young.inherit(learnt(8_640, () => 0));
    expect(young.spread(0)).toBe(1);
  });

  it('resets its levels and keeps its estimate of variance', () => {
    const drift = learnt(8_640, (window) => 0.2 * Math.sin(window / 700));
    const spread = drift.spread(0);
    drift.forget();
    expect(drift.level(0)).toBe(0);
    expect(drift.spread(0)).toBe(spread);
  });
});
