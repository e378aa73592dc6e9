import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../../src/base/time.ts';
import {
  baselineSlowBand,
  type FacetBands,
  sumOfBands,
} from '../../../src/detect/drivers/slow-band.ts';
import { trafficMix } from '../../../src/detect/drivers/traffic-mix.ts';
import { defaultFleet } from '../../../src/generate/default-fleet.ts';
import type { Fault } from '../../../src/generate/fault.ts';
import { generateTraffic } from '../../../src/generate/traffic.ts';
import { mulberry32, SeededRandom } from '../../base/seeded-random.ts';
import { TestChunk } from '../../window/test-chunk.ts';

const startMs = 1_789_000_000_000 - (1_789_000_000_000 % minuteMs);
const baselineMinutes = 5;

/** Rows of drivers_1m: baseline minutes, then those from the fault's first on. */
function facetsOf(model: string, fault: Fault, seed: string): FacetBands[] {
  const chunk = new TestChunk({ facets: ['batch_size', 'request_bytes', 'input_tokens'] }).begin();
  for (const event of generateTraffic({
    seed,
    startMs,
    durationMs: (baselineMinutes + 1.5) * minuteMs,
    ratePerSecond: 25,
    models: defaultFleet.filter(({ name }) => name === model),
    dailySwing: 0,
    faults: [fault],
  })) {
    chunk.add(event);
  }
  const { drivers } = chunk.accumulator;
  const found = new Map<
    string,
    FacetBands & { now: Map<number, number>; baseline: Map<number, number> }
  >();
  const bands = new Int16Array(208);
  const amounts = new Float64Array(208);
  for (let row = 0; row < drivers.size; row++) {
    const facet = drivers.facet(row);
    const value = drivers.value(row, (id) => chunk.accumulator.values.text(id));
    const key = `${facet} ${value}`;
    const known = found.get(key) ?? { facet, value, now: new Map(), baseline: new Map() };
    found.set(key, known);
    const side =
      drivers.minute(row) - startMs / minuteMs >= baselineMinutes ? known.now : known.baseline;
    const n = drivers.readBands(row, bands, amounts);
    for (let i = 0; i < n; i++) {
      const band = bands[i] as number;
      side.set(band, (side.get(band) ?? 0) + (amounts[i] as number));
    }
  }
  return [...found.values()];
}

/** Requests of one size: the counts in band 0 and in band 10. */
const size = (value: string, now: [number, number], baseline: [number, number]): FacetBands => {
  const bands = ([fast, slow]: [number, number]) =>
    new Map([
      [0, fast],
      [10, slow],
    ]);
  return { facet: 'batch_size', value, now: bands(now), baseline: bands(baseline) };
};

describe('the split of a rise', () => {
  it('is mix where larger requests came and each size is as slow as before', () => {
    const baseline = [size('1', [900, 0], [880, 0]), size('2-3', [450, 450], [60, 60])];
    expect(trafficMix(baseline, 10)).toEqual({
      ...{ facet: 'batch_size', share: 1 },
      excess: expect.closeTo(0.25 - 0.06, 12),
      mix: expect.closeTo(0.19, 12),
      slowdown: expect.closeTo(0, 12),
    });
  });

  it('is slowdown where the sizes are as before', () => {
    const slower = [size('1', [440, 440], [880, 0]), size('2-3', [12, 108], [60, 60])];
    const split = trafficMix(slower, 10);
    expect(split).toMatchObject({ share: 0 });
    expect(split?.mix).toBeCloseTo(0, 12);
  });

  it('adds up to the rise, for any input', () => {
    const random = new SeededRandom(7, mulberry32);
    const some = (most: number) => Math.floor(most * random.unit());
    let splits = 0;
    for (let n = 0; n < 500; n++) {
      const sizes = ['0', '1', '2-3', '4-7', '8-15', '__other__'].map((value) =>
        size(
          value,
          [some(90), some(90)],
          random.unit() < 0.3 ? [0, some(3)] : [some(400), some(40)],
        ),
      );
      const split = trafficMix(sizes, 10);
      if (split === undefined) continue;
      splits++;
      const rate = (side: 'now' | 'baseline') => {
        const of = (band: number) =>
          sizes.reduce((sum, each) => sum + (each[side].get(band) ?? 0), 0);
        return of(10) / (of(0) + of(10));
      };
      expect(split.excess).toBeCloseTo(rate('now') - rate('baseline'), 12);
      expect(split.mix + split.slowdown).toBeCloseTo(split.excess, 12);
      expect(split.share).toBeGreaterThanOrEqual(0);
      expect(split.share).toBeLessThanOrEqual(1);
    }
    expect(splits).toBeGreaterThan(150);
  });

  it('predicts the duration of an unseen size by the law of sizes', () => {
    const at = (band: number, amount: number) => new Map([[band, amount]]);
    const value = (name: string, now: Map<number, number>, baseline: Map<number, number>) => ({
      ...{ facet: 'batch_size', value: name, now, baseline },
    });
    // Twice the size adds two bands; slow begins at band 12, where 128 would lie.
    const baseline = [
      value('32-63', at(8, 500), at(8, 940)),
      value('64-127', at(10, 100), at(10, 40)),
    ];
    const rare = value('1', at(12, 4), at(12, 60));
    const split = trafficMix([...baseline, rare, value('128-255', at(12, 400), new Map())], 12);
    expect(split?.share).toBeGreaterThan(0.95);
    // If time did not depend on size, the same would be slowness.
    const flat = [value('32-63', at(8, 500), at(8, 940)), value('64-127', at(8, 100), at(8, 40))];
    expect(trafficMix([...flat, rare, value('128-255', at(12, 400), new Map())], 12)?.share).toBe(
      0,
    );
  });

  it('is absent without a size, without requests, or without more slow requests', () => {
    const host = { ...size('1', [50, 50], [95, 5]), facet: 'host' };
    expect(trafficMix([host], 10)).toBeUndefined();
    expect(trafficMix([size('1', [0, 0], [95, 5])], 10)).toBeUndefined();
    expect(trafficMix([size('1', [50, 50], [0, 0])], 10)).toBeUndefined();
    expect(trafficMix([size('1', [93, 7], [95, 5])], 10)).toBeUndefined();
  });
});

describe('traffic mix and slowdown', () => {
  const random = new SeededRandom(21, mulberry32);
  /** The first minute and a half of a fault, when its page is opened. */
  const stories = Array.from({ length: 24 }, (_, n) => {
    const model = n % 4 < 2 ? 'ranker' : 'embedder';
    const fromMs = baselineMinutes * minuteMs + Math.floor(random.unit() * 20_000);
    const sized = { factor: 2 + 4 * random.unit(), share: 0.3 + 0.6 * random.unit() };
    const at = { ...sized, fromMs, model };
    const slow: readonly Fault[] = [
      { kind: 'slow_stage', stage: 'forward', ...at },
      { kind: 'queue', fromMs, model, factor: 2 + sized.factor / 3 },
      { kind: 'bad_version', ...at },
      { kind: 'slow_stage', stage: model === 'ranker' ? 'features' : 'preprocess', ...at },
    ];
    const isMix = n % 2 === 0;
    const fault = isMix
      ? ({ kind: 'big_requests', ...at } as const)
      : (slow[Math.floor(n / 2) % slow.length] as Fault);
    return { n, isMix, model, fault };
  });
  const splitOf = (facets: FacetBands[]) => {
    const sizes = facets.filter(({ facet }) => facet === 'batch_size' || facet === 'input_tokens');
    return trafficMix(
      facets,
      baselineSlowBand(sumOfBands(sizes.map(({ baseline }) => baseline)), 0.05) as number,
    );
  };
  const cases = stories.map(({ n, isMix, model, fault }) => {
    const split = splitOf(facetsOf(model, fault, `mix-${n}`));
    return { isMix, split, text: `${n} ${model} ${fault.kind} ${split?.share}` };
  });

  it('are distinguished in at least 19 of 20 cases', () => {
    const seen = cases.filter(({ split }) => split !== undefined);
    expect(seen.length).toBeGreaterThan(18);
    const right = seen.filter(({ isMix, split }) => (split?.share ?? 0) >= 0.5 === isMix);
    expect(
      right.length / seen.length,
      cases.map(({ text }) => text).join('\n'),
    ).toBeGreaterThanOrEqual(0.95);
  });

  it('both occur, and every mix shows a rise', () => {
    expect(cases.filter(({ isMix, split }) => isMix && split === undefined)).toEqual([]);
    expect(
      cases.filter(({ isMix, split }) => !isMix && split !== undefined).length,
    ).toBeGreaterThan(6);
  });
});
