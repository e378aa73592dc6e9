import { describe, expect, it } from 'vitest';
import { LocalLevel } from '../../../../src/detect/score/local-level.ts';
import { PeakPool } from '../../../../src/detect/score/peak-pool.ts';
import { CusumBank } from '../../../../src/detect/tail/evidence/cusum-bank.ts';
import { faultTemplates } from '../../../../src/detect/tail/evidence/fault-templates.ts';
import { WindowScores } from '../../../../src/detect/tail/evidence/window-scores.ts';
import { TailCounts } from '../../../../src/detect/tail/tail-counts.ts';
import { Random } from '../../../../src/generate/random.ts';
import { detectOptions } from '../../../scenarios/run-scenario.ts';
import { findIn, learnIn } from '../../found-run.ts';

const count = faultTemplates.length;
/** Counts of no window: only the evidence is tested. */
const counts = new TailCounts(detectOptions());

/** Evidence for the first fault after each window, given its score a request. */
function evidenceAfter(scores: readonly number[]): number[] {
  const evidence = new CusumBank(10_000, new PeakPool());
  const varianceInflation = evidence.varianceInflation(0);
  return scores.map((sum, window) => {
    const of = new WindowScores();
    of.sums.fill(-1);
    of.sums[0] = sum * varianceInflation;
    findIn(evidence, counts, window * 10_000, of);
    return Math.round(evidence.sum(0) * 1e6) / 1e6;
  });
}

describe('CusumBank', () => {
  it('continues while small evidence rises and falls', () => {
    expect(evidenceAfter([6, -4, 5, 6, -7.9])).toEqual([6, 2, 7, 13, 5.1]);
  });

  it('ends once it has fallen below three fifths of its peak, and by eight', () => {
    expect(evidenceAfter([16, -7.9, -0.2])).toEqual([16, 8.1, 0]);
    expect(evidenceAfter([40, -15.9, -0.2])).toEqual([40, 24.1, 0]);
  });

  it('ends once it has fallen by sixty', () => {
    expect(evidenceAfter([400, -59, -2])).toEqual([400, 341, 0]);
  });

  it('requires more the longer it has grown, where the level moves', () => {
    const timesAfterAnHour = (levelOf: (window: number) => number) => {
      const evidence = new CusumBank(10_000, new PeakPool());
      const scores = new WindowScores();
      scores.variances.fill(4);
      for (let window = 0; window < 3_000; window++) {
        scores.excess.fill(100 * levelOf(window));
        learnIn(evidence, window % 8, scores, 0.04);
      }
      scores.sums.fill(50);
      findIn(evidence, counts, 0, scores);
      const levelAfter = (ms: number) => evidence.level(0, ms, 1e-3, 3_600_000);
      return levelAfter(3_600_000) / levelAfter(0);
    };
    // The movement is predicted after seven and a half minutes.
    expect(timesAfterAnHour((window) => 0.2 * Math.sin(window / 300))).toBeCloseTo(4.75, 9);
    // Its level is constant, but this is as long as the baseline.
    expect(timesAfterAnHour((window) => (window % 2 ? 0.02 : -0.02))).toBe(2);
  });

  it('is divided by small spreads too, where the score of another fault surely moves', () => {
    const random = new Random('still');
    const evidence = new CusumBank(10_000, new PeakPool());
    const drift = new LocalLevel(count);
    const scores = new WindowScores();
    for (let window = 0; window < 3_000; window++) {
      const slow = Math.sin(window / 200);
      for (let t = 0; t < count; t++) {
        scores.excess[t] = 10 * random.normal() + (t === 0 ? 30 * slow : 0.15 * t * slow);
        scores.variances[t] = 100;
      }
      const isFull = drift.observe(100, Float64Array.from(scores.excess));
      learnIn(evidence, window % 8, scores, 1);
      if (isFull) drift.update((t) => evidence.dispersion(t));
    }
    const spreads = Array.from({ length: count }, (_, t) => drift.spread(t));
    // Some would count as chance by themselves.
    expect(spreads.some((spread) => spread > 1 && spread < 1.5)).toBe(true);
    for (const [t, spread] of spreads.entries()) {
      expect(evidence.varianceInflation(t)).toBe(evidence.dispersion(t) * spread);
    }
  });
});
