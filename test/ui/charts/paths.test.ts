import { describe, expect, it } from 'vitest';
import { bandPath, dotsPath, linePath } from '../../../ui/src/charts/geometry/paths.ts';
import {
  linearAxis,
  logAxis,
  scaleOf,
  timeAxis,
  timeTitle,
} from '../../../ui/src/charts/parts/axis.ts';

const x = (step: number) => 10 * step + 5;
const y = (value: number) => 100 - value;

describe('a line through steps', () => {
  it('has gaps, and a dot between two of them', () => {
    expect(linePath([1, 2, null, 3, null, 4], x, y)).toBe('M5 99L15 98M35 97h0.01M55 96h0.01');
    expect(linePath([null], x, y)).toBe('');
  });
});

describe('a band through steps', () => {
  const slot = (step: number) => [10 * step, 10 * step + 10] as const;
  const edges = [[1, 2], [1, 3], null, [0, 4]] as const;

  it('has an outline for each run, which joins the middles and is flat at both ends', () => {
    expect(bandPath(edges, slot, y)).toBe(
      [
        ...['M0 98L5 98L15 97L20 97', 'L20 99L15 99L5 99L0 99Z'],
        ...['M30 96L35 96L40 96', 'L40 100L35 100L30 100Z'],
      ].join(''),
    );
  });

  it('ends in the middle where a step is a point', () => {
    expect(bandPath(edges.slice(0, 2), (i) => [x(i), x(i)], y)).toBe('M5 98L15 97L15 99L5 99Z');
  });
});

describe('points', () => {
  it('are circles', () => {
    expect(dotsPath([[10, 20]], 2)).toBe('M8 20a2 2 0 1 0 4 0a2 2 0 1 0 -4 0');
  });
});

describe('an axis', () => {
  const ticksOf = (axis: Parameters<typeof scaleOf>[0], px: number) =>
    axis.ticks(px, scaleOf(axis, [0, px]));

  it('of durations maps by logarithm, and names fewer where it is short', () => {
    const axis = logAxis([1, 1000], String);
    expect(Math.round(scaleOf(axis, [300, 0])(10))).toBe(200);
    expect(ticksOf(axis, 300).map(([, text]) => text)).toEqual([
      ...['1', '2', '5', '10', '20', '50', '100', '200', '500', '1000'],
    ]);
    expect(ticksOf(axis, 100).map(([, text]) => text)).toEqual(['1', '10', '100', '1000']);
  });

  it('from 0 ends its names before its room', () => {
    const axis = linearAxis(105, (value) => `${value} ms`, 100);
    expect(ticksOf(axis, 200).at(-1)).toEqual([100, '100 ms']);
    expect(scaleOf(axis, [210, 0])(100)).toBeCloseTo(10);
  });

  it('of time names the day at midnight, in the zone of the page', () => {
    const fromMs = Date.UTC(2026, 10, 24, 23);
    const span = { fromMs, toMs: fromMs + 2 * 3_600_000 };
    expect(ticksOf(timeAxis(span, { utc: true }), 300).map(([, text]) => text)).toEqual([
      ...['23:00', '23:30', '25 Nov', '00:30', '01:00'],
    ]);
    const grid = { ...span, stepMs: 300_000, steps: 24 };
    expect(timeTitle(grid, { utc: true })).toBe('UTC, 5 min a step');
  });
});
