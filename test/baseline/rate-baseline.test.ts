import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayMs } from '../../src/base/time.ts';
import { RateBaseline } from '../../src/baseline/rate-baseline.ts';
import { StateReader } from '../../src/snapshot/archive-reader.ts';
import { StateWriter } from '../../src/snapshot/archive-writer.ts';

const windowMs = 10_000;
const baselineMs = 600_000;

function restored(baseline: RateBaseline, lengthMs = baselineMs): RateBaseline {
  const writer = new StateWriter();
  baseline.serialize(writer);
  const reader = new StateReader(writer.drain());
  const other = new RateBaseline(lengthMs, windowMs);
  other.serialize(reader);
  reader.end();
  return other;
}

describe('RateBaseline', () => {
  it('is empty before its first window, and never a rate of 0', () => {
    const baseline = new RateBaseline(baselineMs, windowMs);
    expect(baseline.reference()).toBeUndefined();
    baseline.learn(0, 1500, 0);
    expect(baseline.reference()).toEqual({
      rate: 0.5 / 2000,
      requests: 1500,
      windows: 1,
      spanMs: windowMs,
      fromMs: 0,
      toMs: windowMs,
    });
  });

  it('drops whole blocks older than the baseline', () => {
    const baseline = new RateBaseline(baselineMs, windowMs);
    for (let at = 0; at < 200; at++) baseline.learn(at * windowMs, 100, at < 100 ? 50 : 1);
    const { windows = 0, requests = 0, rate } = baseline.reference() ?? {};
    expect(windows).toBeLessThanOrEqual(9 * 8);
    // One failure a window, and the prior: half a failure in five hundred requests.
    expect(requests).toBe(100 * windows);
    expect(rate).toBe((windows + 0.5) / (requests + 500));
  });

  it('covers all windows of the blocks of a baseline, renewed once a minute, also in a snapshot', () => {
    const blockMs = 8 * windowMs;
    const steps = fc.array(
      fc.record({
        pause: fc.constantFrom(0, 0, 0, 3, 50, 90),
        requests: fc.integer({ min: 500, max: 599 }),
        hits: fc.nat(9),
      }),
      { minLength: 1, maxLength: 150 },
    );
    fc.assert(
      fc.property(steps, (given) => {
        let baseline = new RateBaseline(baselineMs, windowMs);
        const model: { startMs: number; requests: number; hits: number }[] = [];
        let startMs = 0;
        for (const { pause, requests, hits } of given) {
          startMs += windowMs * (1 + pause);
          const before = baseline.reference();
          baseline.learn(startMs, requests, hits);
          model.push({ startMs, requests, hits });
          const minuteOf = (ms: number) => Math.floor(ms / (6 * windowMs));
          const lastMs = model.at(-2)?.startMs;
          if (lastMs !== undefined && minuteOf(lastMs) === minuteOf(startMs)) {
            expect(baseline.reference()).toBe(before);
            continue;
          }
          const blockOf = (ms: number) => Math.floor(ms / blockMs) * blockMs;
          const fromMs = blockOf(startMs) - baselineMs - blockMs;
          const kept = model.filter((one) => blockOf(one.startMs) > fromMs);
          const sum = (of: 'requests' | 'hits') => kept.reduce((all, one) => all + one[of], 0);
          expect(baseline.reference()).toEqual({
            rate: Math.min(0.999, (sum('hits') + 0.5) / (sum('requests') + 500)),
            requests: sum('requests'),
            windows: kept.length,
            spanMs: startMs + windowMs - blockOf(kept[0]?.startMs ?? Number.NaN),
            fromMs: blockOf(kept[0]?.startMs ?? Number.NaN),
            toMs: startMs + windowMs,
          });
          baseline = restored(baseline);
        }
      }),
      { seed: 15, numRuns: 100 },
    );
  });

  it('is that of the last days, which fade, where a baseline holds fewer than 500 requests', () => {
    const baseline = new RateBaseline(3_600_000, windowMs);
    // One request in 300 s for a day, of which every tenth fails.
    for (let at = 0; at < 288; at++) baseline.learn(at * 300_000, 1, at % 10 === 0 ? 1 : 0);
    const known = baseline.reference();
    if (known === undefined) throw new Error('no reference');
    // The weight of a window falls to e^-1 in two days.
    const weight = 2 * 288 * (1 - Math.exp(-0.5));
    expect(known.requests).toBeCloseTo(weight, 0);
    expect(known.windows).toBe(Math.round(weight));
    expect(known.spanMs / known.requests / 300_000).toBeCloseTo(1, 2);
    expect(known.rate).toBeCloseTo((0.1 * weight + 0.5) / (weight + 500), 3);
    expect(known.fromMs).toBe(0);
    expect(known.toMs).toBe(dayMs - 300_000 + windowMs);
    const again = restored(baseline, 3_600_000);
    expect(again.reference()).toEqual(baseline.reference());
  });

  it('is the same after a restart over as much history', () => {
    const whole = new RateBaseline(baselineMs, windowMs);
    const late = new RateBaseline(baselineMs, windowMs);
    for (let at = 0; at < 300; at++) {
      whole.learn(at * windowMs, 90 + (at % 7), at % 3);
      if (at >= 180) late.learn(at * windowMs, 90 + (at % 7), at % 3);
    }
    expect(late.reference()).toEqual(whole.reference());
  });
});
