import { describe, expect, it } from 'vitest';
import { evaluate } from './evaluation.ts';
import { renderEvaluation } from './render-evaluation.ts';
import { runSeries } from './run-series.ts';

// The short form of `npm run eval`, on its own seeds; false-pages.slow.test.ts is its other half.
const seed = 500_000;

describe('the detector, evaluated', () => {
  const days = 3;
  const faulty = ['independent', 'swing of ten minutes', 'diurnal'].map((family) =>
    runSeries({ family, seed, days, faultsFromDay: 1 }),
  );
  const nothingWrong = runSeries({ family: 'little', seed, days: 1.25 });
  const evaluation = evaluate([nothingWrong, ...faulty]);

  it('finds the most important faults, blames the stage, and ends each page once', () => {
    const { kinds, allKinds, precision } = evaluation;
    const recallOf = (kind: string) => kinds.find(({ name }) => name === kind)?.recall;
    expect(['outage ×10', 'queue builds up', 'stage ×2'].map(recallOf)).toEqual([1, 1, 1]);
    expect(allKinds.faults).toBe(36);
    expect(allKinds.recall).toBeGreaterThanOrEqual(0.95);
    // Two windows, and the two seconds until they are evaluated.
    const outage = kinds.find(({ name }) => name === 'outage ×10');
    expect(outage?.medianDelayMs).toBeLessThanOrEqual(22_000);
    // In windows: one more where the oracle needs one is twice its delay.
    expect(allKinds.medianOverOracle).toBeLessThanOrEqual(3);
    expect(allKinds.blamed).toBeGreaterThanOrEqual(0.95);
    expect(allKinds.pagesPerFault).toBeLessThanOrEqual(1.1);
    expect(allKinds.resolvesPerPage).toBe(1);
    expect(precision).toBeGreaterThanOrEqual(0.95);
  });

  it('gives the same for the same seed, independently of later windows', () => {
    const [, whole] = faulty;
    const started = runSeries({ family: 'swing of ten minutes', seed, days: 2, faultsFromDay: 1 });
    expect(started.faults).toHaveLength(6);
    expect(started.faults).toEqual(whole?.faults.slice(0, 6));
  });

  it('is shown as tables', () => {
    const lines = renderEvaluation(evaluation).split('\n');
    expect(lines.filter((line) => line.startsWith('| little:'))).toHaveLength(1);
    expect(lines.filter((line) => line.startsWith('| **all** |'))).toHaveLength(2);
  });
});
