import { describe, expect, it } from 'vitest';
import { ClockCheck } from '../../src/source/clock-check.ts';
import { SeededRandom } from '../base/seeded-random.ts';

const minute = 60_000;

/** Positions of the times that are found to be ahead; every item comes out, in order. */
function aheadIn(times: readonly number[]): number[] {
  const check = new ClockCheck<number>(5 * minute);
  const decided = [...times.flatMap((timeMs, i) => [...check.push(i, timeMs)]), ...check.drain()];
  expect(decided.map(({ item }) => item)).toEqual(times.map((_, i) => i));
  return decided.filter(({ isAhead }) => isAhead).map(({ item }) => item);
}

const steady = (n: number, fromMs = 0, stepMs = 1_000) =>
  Array.from({ length: n }, (_, i) => fromMs + i * stepMs);

describe('the clock of a recording', () => {
  it('is ahead at one event of another day or century, wherever it stands but among the last', () => {
    for (const oddMs of [1_440 * minute, 1e12, 1e18]) {
      for (const at of [0, 1, 500, 990, 997]) {
        const times = steady(1_000);
        times.splice(at, 0, oddMs);
        expect([at, aheadIn(times)]).toEqual([at, [at]]);
      }
    }
  });

  it('is ahead at every event of one host of five', () => {
    const times = steady(1_000).map((ms, i) => (i % 5 === 2 ? ms + 60 * minute : ms));
    const expected = times.map((_, i) => i).filter((i) => i % 5 === 2 && i < 997);
    expect(aheadIn(times).filter((i) => i < 997)).toEqual(expected);
  });

  it('is right after a gap, before one, and where an old event comes late', () => {
    expect(aheadIn([...steady(200), ...steady(200, 1_440 * minute)])).toEqual([]);
    expect(aheadIn([0, ...steady(200, 1e12)])).toEqual([]);
    expect(aheadIn(steady(200).toSpliced(100, 0, -1e12))).toEqual([]);
    expect(aheadIn(steady(200, 0, 3_600_000))).toEqual([]);
  });

  it('is right where events are out of order by less than five minutes, for 100 orders', () => {
    const random = new SeededRandom(3);
    for (let n = 0; n < 100; n++) {
      const times = steady(300).map((ms) => ms + random.between(0, 5 * minute - 1));
      expect(aheadIn(times)).toEqual([]);
    }
  });

  it('is not known of an item without a time', () => {
    expect(aheadIn(steady(200).toSpliced(100, 0, Number.NaN))).toEqual([]);
  });
});
