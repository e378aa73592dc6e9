import { describe, expect, it } from 'vitest';
import { SeriesBaseline } from '../../src/baseline/series-baseline.ts';
import { summarizeWindow } from '../scenarios/summarize-window.ts';

const series = {
  ...{ service: '', model: 'm', version: '', request_type: '', region: '', host: '' },
  ...{ tenant: '', cold_start: false },
};

describe('SeriesBaseline', () => {
  it('gives a stage its reference once enough windows had it', () => {
    const baseline = new SeriesBaseline(600_000, 10_000);
    for (let i = 0; i < 5; i++) {
      const stages = new Map([['total', [1, 2]]]);
      if (i >= 2) stages.set('queue', [1]);
      const windowStartMs = i * 10_000;
      baseline.learn(summarizeWindow({ series, windowStartMs, windowMs: 10_000, stages }));
    }
    expect(baseline.windows).toBe(5);
    expect(baseline.firstMs).toBe(0);
    expect(baseline.reference('total', 5)?.digest.count).toBe(10);
    expect(baseline.reference('queue', 3)?.digest.count).toBe(3);
    expect(baseline.reference('queue', 4)).toBeUndefined();
    expect(baseline.reference('forward', 1)).toBeUndefined();
  });
});
