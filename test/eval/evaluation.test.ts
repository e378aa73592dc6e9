import { describe, expect, it } from 'vitest';
import { evaluate } from './evaluation.ts';
import { nullFamilies } from './null-families.ts';
import { renderEvaluation } from './render-evaluation.ts';
import { runSeries } from './run-series.ts';

// The short form of `npm run eval`, on seeds of its own.
const seed = 500_000;

describe('the detector, evaluated', { timeout: 240_000 }, () => {
  const nulls = nullFamilies.map(({ name: family }) => runSeries({ family, seed, days: 2 }));
  const faulty = ['independent', 'swing of ten minutes', 'diurnal'].map((family) =>
    runSeries({ family, seed, days: 4, faultsFromDay: 1 }),
  );
  const evaluation = evaluate([...nulls, ...faulty]);

  it('tells nothing where nothing is wrong, and of a cron job once', () => {
    const pages = nulls.flatMap(({ family, falsePages }) =>
      falsePages.map(({ summary }) => `${family}: ${summary}`),
    );
    expect(pages.filter((page) => !page.startsWith('cron job'))).toEqual([]);
    expect(pages.length).toBeLessThanOrEqual(1);
  });

  it('finds what matters most, blames the stage, and ends each page once', () => {
    const { kinds, allKinds, precision } = evaluation;
    const recallOf = (kind: string) => kinds.find(({ name }) => name === kind)?.recall;
    expect(['outage ×10', 'queue builds up', 'stage ×2'].map(recallOf)).toEqual([1, 1, 1]);
    expect(allKinds.faults).toBe(54);
    expect(allKinds.recall).toBeGreaterThanOrEqual(0.85);
    // Two windows, and the two seconds until they are judged.
    const outage = kinds.find(({ name }) => name === 'outage ×10');
    expect(outage?.medianDelayMs).toBeLessThanOrEqual(22_000);
    // In windows: one more where the oracle takes one is twice its delay.
    expect(allKinds.medianOverOracle).toBeLessThanOrEqual(3);
    expect(allKinds.blamed).toBeGreaterThanOrEqual(0.95);
    expect(allKinds.pagesPerFault).toBeLessThanOrEqual(1.1);
    expect(allKinds.resolvesPerPage).toBe(1);
    expect(precision).toBeGreaterThanOrEqual(0.95);
  });

  it('gives the same for the same seed', () => {
    const again = runSeries({ family: 'shocks', seed, days: 2, faultsFromDay: 1 });
    const { detectorMs: _, ...outcome } = again;
    expect(runSeries({ family: 'shocks', seed, days: 2, faultsFromDay: 1 })).toMatchObject(outcome);
  });

  it('is shown as tables', () => {
    const lines = renderEvaluation(evaluation).split('\n');
    expect(lines.filter((line) => line.startsWith('| independent:'))).toHaveLength(1);
    expect(lines.filter((line) => line.startsWith('| **all** |'))).toHaveLength(2);
  });
});
