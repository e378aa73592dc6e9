import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BaselinePeriods } from '../../src/baseline/baseline-periods.ts';
import { SeriesBaseline } from '../../src/baseline/series-baseline.ts';
import type { StageReference } from '../../src/baseline/series-reference.ts';
import { StageBaseline } from '../../src/baseline/stage-baseline.ts';
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

  it('is renewed block by block after a baseline’s length without learning', () => {
    const [baselineMs, windowMs] = [80_000, 10_000];
    const baseline = new SeriesBaseline(baselineMs, windowMs);
    const learn = (windowStartMs: number) => {
      const stages = new Map([['total', [1, 2]]]);
      baseline.learn(summarizeWindow({ series, windowStartMs, windowMs, stages }));
    };
    learn(0);
    const isRenewedBy = (ms: number) => {
      const before = baseline.renewal;
      baseline.advance(ms);
      return baseline.renewal !== before;
    };
    const early = [10_000, 70_000].map(isRenewedBy);
    const late = [80_000, 80_000, 90_000].map(isRenewedBy);
    expect([early, late]).toEqual([
      [false, false],
      [true, false, true],
    ]);
    learn(100_000);
    expect([110_000, 170_000, 180_000].map(isRenewedBy)).toEqual([false, false, true]);
  });

  it('gives of each stage, at any time, the same as if each window were added at once', () => {
    const [baselineMs, windowMs] = [4_000_000, 10_000];
    const window = fc.record({
      // Most gaps hold so many windows that new ones wait for others.
      gap: fc.oneof(
        { weight: 300, arbitrary: fc.constant(1) },
        { weight: 2, arbitrary: fc.constant(7) },
        { weight: 1, arbitrary: fc.constant(300) },
      ),
      queue: fc.boolean(),
      asks: fc.constantFrom('nothing', 'nothing', 'nothing', 'reference', 'bands'),
    });
    const windows = fc.array(window, { minLength: 30, maxLength: 900, size: 'max' });
    let same = 0;
    fc.assert(
      fc.property(windows, fc.integer({ min: 1, max: 250 }), (drawn, minWindows) => {
        const all = new SeriesBaseline(baselineMs, windowMs);
        const periods = new BaselinePeriods(baselineMs, windowMs);
        const alone = new Map(['total', 'queue'].map((name) => [name, new StageBaseline(periods)]));
        const given = new Map<string, { renewal: object; reference: StageReference | undefined }>();
        let at = 0;
        drawn.forEach(({ gap, queue, asks }, i) => {
          at += gap * windowMs;
          const stages = new Map([['total', [i + 1]]]);
          if (queue || i % 2 === 0) stages.set('queue', [1, i + 1]);
          const learnt = summarizeWindow({ series, windowStartMs: at, windowMs, stages });
          all.learn(learnt);
          for (const [name, one] of alone) {
            const summary = learnt.stages.get(name);
            if (summary !== undefined) one.learn(at, summary);
            if (asks === 'reference') {
              const known = one.windows < minWindows ? undefined : one.reference();
              const { renewal } = all;
              const reference = all.reference(name, minWindows);
              expect(reference).toEqual(known);
              const last = given.get(name);
              if (last?.renewal === renewal) {
                expect(reference).toBe(last.reference);
                if (reference !== undefined) same += 1;
              }
              given.set(name, { renewal: all.renewal, reference });
            }
            if (asks === 'bands' && one.windows > 0) expect(all.bands(name)).toEqual(one.bands());
          }
        });
      }),
      { seed: 20261123, numRuns: 60, endOnFailure: true },
    );
    expect(same).toBeGreaterThan(300);
  });
});
