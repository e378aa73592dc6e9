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
/** Of no window: the evidence alone is asked for. */
const counts = new TailCounts(detectOptions());

/** How much evidence there is for the first fault after each window, whose requests say so much of it alone. */
function evidenceAfter(said: readonly number[]): number[] {
  const evidence = new CusumBank(10_000, new PeakPool());
  const varianceInflation = evidence.varianceInflation(0);
  return said.map((sum, window) => {
    const of = new WindowScores();
    of.sums.fill(-1);
    of.sums[0] = sum * varianceInflation;
    findIn(evidence, counts, window * 10_000, of);
    return Math.round(evidence.sum(0) * 1e6) / 1e6;
  });
}

describe('FaultEvidence', () => {
  it('goes on where a little of it goes up and down', () => {
    expect(evidenceAfter([6, -4, 5, 6, -7.9])).toEqual([6, 2, 7, 13, 5.1]);
  });

  it('is over once it has fallen below three fifths of its peak, and by eight', () => {
    expect(evidenceAfter([16, -7.9, -0.2])).toEqual([16, 8.1, 0]);
    expect(evidenceAfter([40, -15.9, -0.2])).toEqual([40, 24.1, 0]);
  });

  it('is over once it has fallen by sixty', () => {
    expect(evidenceAfter([400, -59, -2])).toEqual([400, 341, 0]);
  });

  it('must be the clearer the longer it has grown, where the level moves', () => {
    const timesAfterAnHour = (levelOf: (window: number) => number) => {
      const evidence = new CusumBank(10_000, new PeakPool());
      const said = new WindowScores();
      said.variances.fill(4);
      for (let window = 0; window < 3_000; window++) {
        said.excess.fill(100 * levelOf(window));
        learnIn(evidence, window % 8, said, 0.04);
      }
      said.sums.fill(50);
      findIn(evidence, counts, 0, said);
      const levelAfter = (ms: number) => evidence.level(0, ms, 1e-3, 3_600_000);
      return levelAfter(3_600_000) / levelAfter(0);
    };
    // It is foreseen: seven minutes and a half of it are no news already.
    expect(timesAfterAnHour((window) => 0.2 * Math.sin(window / 300))).toBeCloseTo(4.75, 9);
    // It does not move, but that is as long as the baseline is.
    expect(timesAfterAnHour((window) => (window % 2 ? 0.02 : -0.02))).toBe(2);
  });

  it('is divided by small surprises too, where what is said of another fault is sure to move', () => {
    const random = new Random('still');
    const evidence = new CusumBank(10_000, new PeakPool());
    const drift = new LocalLevel(count);
    const said = new WindowScores();
    for (let window = 0; window < 3_000; window++) {
      const slow = Math.sin(window / 200);
      for (let t = 0; t < count; t++) {
        said.excess[t] = 10 * random.normal() + (t === 0 ? 30 * slow : 0.15 * t * slow);
        said.variances[t] = 100;
      }
      const isFull = drift.observe(100, Float64Array.from(said.excess));
      learnIn(evidence, window % 8, said, 1);
      if (isFull) drift.update((t) => evidence.dispersion(t));
    }
    const spreads = Array.from({ length: count }, (_, t) => drift.spread(t));
    // Some would be taken for chance by themselves.
    expect(spreads.some((spread) => spread > 1 && spread < 1.5)).toBe(true);
    for (const [t, spread] of spreads.entries()) {
      expect(evidence.varianceInflation(t)).toBe(evidence.dispersion(t) * spread);
    }
  });
});
