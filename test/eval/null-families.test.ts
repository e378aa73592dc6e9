import { describe, expect, it } from 'vitest';
import { Random } from '../../src/generate/random.ts';
import { nullFamilies } from './null-families.ts';
import { type Component, componentsOf } from './traffic-model.ts';

describe('a random family', () => {
  const moved = nullFamilies.filter(({ model }) => model(new Random(1)).law !== undefined);

  it('is one of these', () => {
    expect(moved.map(({ name }) => name)).toEqual([
      'swing of a minute',
      'swing of ten minutes',
      'swing of an hour',
      'dispersion 5',
      'dispersion 20',
      'shocks',
      'mix drift',
    ]);
  });

  it.each(moved)('is drawn by its stated law: $name', ({ name, model }) => {
    const { momentAt, law } = model(new Random('law'));
    if (law === undefined) throw new Error('this family has a law');
    const logShareOf = (components: readonly Component[]) =>
      Math.log(components[1]?.weight ?? Number.NaN);
    const windows = 100_000;
    const drawn = Array.from({ length: windows }, (_, window) =>
      logShareOf(componentsOf(momentAt(window), law.stage)),
    );
    const logShares = law.states.map(logShareOf);
    const { chain } = law;
    const meanBy = (of: (state: number) => number) =>
      chain.stationary.reduce((sum, p, state) => sum + p * of(state), 0);
    const mean = meanBy((state) => logShares[state] as number);
    const variance = meanBy((state) => ((logShares[state] as number) - mean) ** 2);
    const moved = meanBy((state) => {
      const next = chain.step(Float64Array.from(logShares, (_, at) => (at === state ? 1 : 0)));
      return next.reduce(
        (sum, p, to) => sum + p * ((logShares[to] as number) - (logShares[state] as number)) ** 2,
        0,
      );
    });
    const average = (of: (value: number, i: number) => number) =>
      drawn.reduce((sum, value, i) => sum + of(value, i), 0) / windows;
    // A hundred thousand windows are 46 times six hours, and have 58 shocks.
    expect(Math.abs(average((value) => value - mean) / Math.sqrt(variance))).toBeLessThan(0.2);
    expect(Math.abs(average((value) => (value - mean) ** 2) / variance - 1)).toBeLessThan(0.3);
    const movedBy = average((value, i) => (value - (drawn[Math.max(0, i - 1)] as number)) ** 2);
    const isRare = name === 'shocks';
    expect(Math.abs(movedBy / moved - 1)).toBeLessThan(isRare ? 0.3 : 0.02);
  });
});

describe('a family without a law', () => {
  it.each(nullFamilies.filter(({ model }) => model(new Random(1)).law === undefined))(
    'depends on time alone: $name',
    ({ model }) => {
      const [asked, waited] = [model(new Random(1)), model(new Random(1))];
      for (let window = 0; window < 5_000; window++) waited.momentAt(window);
      expect(asked.momentAt(5_000)).toEqual(waited.momentAt(5_000));
    },
  );
});
