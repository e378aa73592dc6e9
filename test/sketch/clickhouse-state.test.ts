import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OperatorError } from '../../src/base/operator-error.ts';
import { decodeState, encodeState, maxStateBytes } from '../../src/sketch/clickhouse-state.ts';
import { stateCentroids } from '../../src/sketch/sketch-pool.ts';

function encode(means: number[], weights: number[]): Uint8Array {
  const out = new Uint8Array(maxStateBytes);
  const end = encodeState(
    Float64Array.from(means),
    Float64Array.from(weights),
    means.length,
    out,
    0,
  );
  return out.slice(0, end);
}

/** A state written by hand, to test reading of states that the encoder refuses. */
function stateOf(n: number[], ...floats: number[]): Uint8Array {
  return Uint8Array.from([...n, ...new Uint8Array(Float32Array.from(floats).buffer)]);
}

describe('decodeState refuses', () => {
  it.each([
    ['nothing', Uint8Array.of(), 'its length must be complete: it is cut off at byte 0'],
    [
      'a truncated length',
      Uint8Array.of(0x80),
      'its length must be complete: it is cut off at byte 1',
    ],
    [
      '65,537 centroids',
      Uint8Array.of(0x81, 0x80, 0x04),
      'its length must be at most 65536: it is 65537',
    ],
    ['a length without end', new Uint8Array(20).fill(0xff), 'its length must be at most 65536'],
    [
      'a length padded without end',
      new Uint8Array(20).fill(0x80),
      'its length must be at most 65536',
    ],
    [
      'missing centroids',
      stateOf([2], 1, 1),
      'its centroids must take 16 bytes: it is followed by 8',
    ],
    ['weight 0', stateOf([1], 5, 0), 'weight 0 must be above 0: it is 0'],
    ['a negative weight', stateOf([2], 5, 1, 6, -1), 'weight 1 must be above 0: it is -1'],
    ['a NaN weight', stateOf([1], 5, Number.NaN), 'weight 0 must be above 0: it is NaN'],
    ['an infinite weight', stateOf([1], 5, Infinity), 'weight 0 must be above 0: it is Infinity'],
    ['a NaN mean', stateOf([1], Number.NaN, 1), 'mean 0 must be a finite number: it is NaN'],
    [
      'an infinite mean',
      stateOf([1], Infinity, 1),
      'mean 0 must be a finite number: it is Infinity',
    ],
  ])('%s', (_, bytes, message) => {
    expect(() => decodeState(bytes, 0)).toThrow(OperatorError);
    expect(() => decodeState(bytes, 0)).toThrow(message);
  });

  it('any garbage by an OperatorError or reads it within its bytes, and never otherwise', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc.uint8Array({ maxLength: 60 }).map((tail) => Uint8Array.from([3, ...tail])),
    );
    fc.assert(
      fc.property(bytes, fc.nat({ max: 61 }), (garbage, at) => {
        try {
          const { digest, next } = decodeState(garbage, at);
          expect(next).toBeLessThanOrEqual(garbage.length);
          expect(digest.size * 8).toBeLessThan(next - at);
        } catch (error) {
          expect(error).toBeInstanceOf(OperatorError);
        }
      }),
      { seed: 1, numRuns: 2000 },
    );
  });
});

describe('encodeState', () => {
  it('writes the bytes that ClickHouse reads', () => {
    expect(encode([], [])).toEqual(Uint8Array.of(0));
    expect(encode([1, 2.5], [1, 3])).toEqual(
      Uint8Array.of(2, 0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x3f, 0, 0, 0x20, 0x40, 0, 0, 0x40, 0x40),
    );
  });

  it('writes lengths from 128 on in two bytes', () => {
    const means = Array.from({ length: 300 }, (_, i) => i);
    const bytes = encode(
      means,
      means.map(() => 1),
    );
    expect(Array.from(bytes.subarray(0, 2))).toEqual([0xac, 0x02]);
    expect(bytes.length).toBe(2 + 300 * 8);
    expect(Array.from(decodeState(bytes, 0).digest.means)).toEqual(means);
  });

  it('encodes as many centroids as the write side makes in 489 bytes', () => {
    const means = Array.from({ length: stateCentroids }, (_, i) => i);
    expect(
      encode(
        means,
        means.map(() => 1),
      ).length,
    ).toBe(489);
  });

  it('refuses states without room, and invalid ones', () => {
    const one = Float64Array.of(1);
    expect(() => encodeState(one, one, 1, new Uint8Array(8), 0)).toThrow('BUG: no room');
    expect(() => encodeState(one, Float64Array.of(2 ** 40), 1, new Uint8Array(9), 0)).toThrow(
      'BUG: a state of 65536 centroids',
    );
  });

  it('keeps whole weights exact beyond 2^24, as several centroids of one mean', () => {
    for (const weight of [2 ** 24, 2 ** 24 + 1, 2 ** 25, 123_456_789_012 % 2 ** 33]) {
      const { digest } = decodeState(encode([7, 9], [1, weight]), 0);
      expect(digest.count).toBe(weight + 1);
      expect(new Set(digest.means)).toEqual(new Set([7, 9]));
      expect(Math.max(...digest.weights)).toBeLessThanOrEqual(2 ** 24);
    }
  });

  it('round trip: weights exact, means to Float32, several states behind one another', () => {
    const centroid = fc.tuple(
      fc.float({ min: 0, max: 2 ** 30, noNaN: true }),
      fc.integer({ min: 1, max: 2 ** 26 }),
    );
    fc.assert(
      fc.property(fc.array(fc.array(centroid, { maxLength: 51 }), { maxLength: 4 }), (states) => {
        const out = new Uint8Array(states.length * maxStateBytes + 5).fill(0xee);
        let at = 5;
        for (const state of states) {
          state.sort(([a], [b]) => a - b);
          const means = Float64Array.from(state, ([mean]) => mean);
          const weights = Float64Array.from(state, ([, weight]) => weight);
          at = encodeState(means, weights, state.length, out, at);
        }
        expect(out.subarray(0, 5)).toEqual(new Uint8Array(5).fill(0xee));
        let from = 5;
        for (const state of states) {
          const { digest, next } = decodeState(out, from);
          from = next;
          const byMean = new Map<number, number>();
          for (const [mean, weight] of state)
            byMean.set(mean + 0, (byMean.get(mean + 0) ?? 0) + weight);
          const decoded = new Map<number, number>();
          for (const [i, mean] of digest.means.entries()) {
            decoded.set(mean + 0, (decoded.get(mean + 0) ?? 0) + (digest.weights[i] ?? 0));
          }
          expect(decoded).toEqual(byMean);
        }
        expect(from).toBe(at);
      }),
      { seed: 2, numRuns: 200 },
    );
  });
});

it('decodeState sorts centroids that do not ascend, each with its weight', () => {
  const { digest, next } = decodeState(stateOf([3], 3, 30, 1, 10, 2, 20), 0);
  expect(Array.from(digest.means)).toEqual([1, 2, 3]);
  expect(Array.from(digest.weights)).toEqual([10, 20, 30]);
  expect(next).toBe(25);
});
