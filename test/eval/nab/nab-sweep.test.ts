import { describe, expect, it } from 'vitest';
import { nabProfiles } from './nab-profiles.ts';
import { nabScore } from './nab-score.ts';
import { nabSweep, type ScoredFile } from './nab-sweep.ts';

// Three files of meaningless numbers; the expected values are those of NAB's own sweeper.py (v1.1).
const shapes = [
  {
    records: 100,
    windows: [
      [30, 44],
      [70, 79],
    ],
  },
  { records: 60, windows: [[20, 25]] },
  { records: 40, windows: [] },
] as const;
const scored = (scoreOf: (i: number, file: number) => number): ScoredFile[] =>
  shapes.map(({ records, windows }, file) => ({
    windows,
    scores: Array.from({ length: records }, (_, i) => scoreOf(i, file)),
  }));
const anything = scored((i, file) =>
  i % 3 === 0 ? ((i * i * 37 + i * 11 * (file + 1) + file * 29) % 101) / 100 : ((i * 7) % 10) / 100,
);
const profileOf = (name: string) => {
  const profile = nabProfiles.find((profile) => profile.name === name);
  if (profile === undefined) throw new Error(`no profile ${name}`);
  return profile;
};

describe('nabSweep', () => {
  it.each([
    ['standard', 0.5, [1.078142213238058, -0.5170054682280489, -0.44]],
    ['standard', 0.9, [1.8671919431377457, -1.7699961427510273, -0.22]],
    ['reward_low_FP_rate', 0.5, [0.17917758555351138, -1.7255291837757336, -0.88]],
    ['reward_low_FP_rate', 0.9, [1.7572770453528872, -2.5399922855020547, -0.44]],
    ['reward_low_FN_rate', 0.5, [1.078142213238058, -0.5170054682280489, -0.44]],
    ['reward_low_FN_rate', 0.9, [1.8671919431377457, -2.7699961427510273, -0.22]],
  ])('scores each file as NAB does: %s at %d', (name, threshold, expected) => {
    const scores = anything.map(
      (file) =>
        nabSweep([file], profileOf(name)).findLast((one) => one.threshold >= threshold)?.score,
    );
    scores.forEach((score, i) => void expect(score).toBeCloseTo(expected[i] as number, 12));
  });

  it('has an entry for each score that occurs, and one for none', () => {
    const thresholds = nabSweep(anything, profileOf('standard')).map(({ threshold }) => threshold);
    expect(thresholds).toHaveLength(54);
    expect(thresholds[0]).toBe(1.1);
    expect(thresholds).toEqual([...thresholds].sort((a, b) => b - a));
  });

  it('counts nothing in the first 15 % of a file', () => {
    const starts = [15, 9, 6];
    const early = scored((i, file) => (i < (starts[file] ?? 0) ? 1 : 0));
    expect(nabScore(early, profileOf('reward_low_FP_rate'), 1).normalized).toBe(0);
    const late = scored((i, file) => (i === starts[file] ? 1 : 0));
    const score = nabScore(late, profileOf('reward_low_FP_rate'), 1).normalized;
    expect(score).toBeCloseTo((100 * -0.66) / 6, 12);
  });
});

describe('nabScore', () => {
  it.each([
    ['standard', 0.94, 57.11986876789854],
    ['reward_low_FP_rate', 0.94, 47.95462352042032],
    ['reward_low_FN_rate', 0.53, 69.23485272233343],
  ])('uses the best threshold of all and normalizes as NAB does: %s', (name, at, expected) => {
    const { threshold, normalized } = nabScore(anything, profileOf(name));
    expect(threshold).toBe(at);
    expect(normalized).toBeCloseTo(expected, 10);
  });

  it.each(nabProfiles)(
    'is 0 for nothing and 100 for each anomaly at its start: $name',
    (profile) => {
      const nothing = nabScore(
        scored(() => 0),
        profile,
        0.5,
      );
      expect(nothing.normalized).toBe(0);
      const right = scored((i, file) =>
        Number(shapes[file]?.windows.some(([first]) => first === i)),
      );
      expect(nabScore(right, profile).normalized).toBeCloseTo(100, 12);
    },
  );
});
