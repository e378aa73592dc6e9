import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { gapStage } from '../../src/base/dimensions.ts';
import { SeededRandom } from '../base/seeded-random.ts';
import { randomEvents, withRandomGaps } from './random-events.ts';
import { TestChunk } from './test-chunk.ts';

const startMs = 1_790_000_000_000;
const spread = { fromMs: startMs, stepMs: 40, jitterMs: 30_000 };
const options = { allowedLatenessMs: 1e9, maxFutureMs: 1e9 };

/** Few and many copies: within the first values of a sketch, at its change to buckets, and far beyond. */
const weight = fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 150 }), fc.constant(1_000));

/**
 * What quantiles are made of; of gaps only their weight. The copies of an event repeat its gaps one after the other,
 * and its weight each of them: a sketch of the same values in another order has other centroids.
 */
function centroidsOf(
  { accumulator: { rows, stages, ...chunk } }: TestChunk,
  of: 'sketches' | 'censored',
): [number, number][][] {
  return Array.from({ length: rows.size }, (_, row) => {
    const [means, weights] = [new Float64Array(64), new Float64Array(64)];
    const n = chunk[of].centroids(row, means, weights);
    if (stages.text(rows.stageId(row)) === gapStage) {
      return [[0, weights.subarray(0, n).reduce((sum, each) => sum + each, 0)]];
    }
    return Array.from({ length: n }, (_, i) => [means[i] as number, weights[i] as number]);
  });
}

/** Products and sums of the same numbers differ in their last bits. */
function rounded(value: unknown): unknown {
  if (typeof value === 'number') return Number(value.toPrecision(12));
  if (value instanceof Map) return [...value].map(rounded);
  if (Array.isArray(value)) return value.map(rounded);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, rounded(each)]));
}

describe('an event of weight N', () => {
  it('counts as N events in every row, band, driver, status and sketch', () => {
    fc.assert(
      fc.property(fc.integer(), fc.array(weight, { minLength: 1, maxLength: 60 }), (seed, list) => {
        const plain = randomEvents(new SeededRandom(seed), list.length, spread);
        const events = withRandomGaps(plain, seed);
        const [once, copies] = [new TestChunk(options).begin(), new TestChunk(options).begin()];
        let total = 0;
        for (const [i, event] of events.entries()) {
          const times = list[i] as number;
          once.add({ ...event, weight: times });
          for (let n = 0; n < times; n++) copies.add(event);
          total += times;
        }
        expect(rounded(once.rows())).toEqual(rounded(copies.rows()));
        for (const of of ['sketches', 'censored'] as const) {
          expect(rounded(centroidsOf(once, of))).toEqual(rounded(centroidsOf(copies, of)));
        }
        expect(driversOf(once)).toEqual(driversOf(copies));
        expect(once.accumulator.counts).toMatchObject({ aggregated: events.length, weight: total });
        expect(copies.accumulator.counts).toMatchObject({ aggregated: total, weight: total });
      }),
      { numRuns: 40 },
    );
  });

  it('of the largest weight costs no more memory than a few', () => {
    const [many, few] = [new TestChunk(options).begin(), new TestChunk(options).begin()];
    const event = { ts: startMs, model: 'm', stages_ms: { forward: 3.25, queue: 1.5 } };
    many.add({ ...event, weight: 10_000 });
    few.add({ ...event, weight: 100 });
    expect(many.accumulator.bytes).toBe(few.accumulator.bytes);
    const total = [...many.rows()].find(([key]) => key.endsWith('|total'))?.[1];
    expect(total).toMatchObject({ requests: 10_000, sumUs: 47_500_000, minMs: 4.75, maxMs: 4.75 });
  });
});

function driversOf({ accumulator: { drivers, values } }: TestChunk): string[] {
  const [bands, amounts] = [new Int16Array(208), new Float64Array(208)];
  return Array.from({ length: drivers.size }, (_, row) => {
    const n = drivers.readBands(row, bands, amounts);
    const value = drivers.value(row, (id) => values.text(id));
    return JSON.stringify([
      ...[drivers.minute(row), drivers.facet(row), value],
      ...[[...bands.subarray(0, n)], [...amounts.subarray(0, n)]],
    ]);
  });
}
