import { describe, expect, it } from 'vitest';
import { blameOf } from '../../../ui/src/charts/geometry/blame.ts';
import { compositionOf, stackedAreasOf } from '../../../ui/src/charts/geometry/composition.ts';
import { listedStages, stageBarsOf } from '../../../ui/src/charts/geometry/request-bars.ts';
import type { SliceRow } from '../../../ui/src/data/answers.ts';

type Means = Readonly<Record<string, number>>;
const partsOf = (means: Means) =>
  Object.entries(means).map(([stage, mean_ms]) => ({ stage, mean_ms }));
const total = (means: Means) => Object.values(means).reduce((sum, ms) => sum + ms, 0);
const slice = (means: Means, more: Partial<SliceRow> = {}, before?: Means): SliceRow => ({
  at: null,
  from_share: 0,
  to_share: 1,
  above_ms: null,
  below_ms: null,
  requests: 100,
  mean_ms: total(means),
  parts: partsOf(means),
  baseline: before === undefined ? null : { mean_ms: total(before), parts: partsOf(before) },
  ...more,
});

describe('a composition', () => {
  it('of nothing has no bars', () => {
    expect(compositionOf([])).toEqual({
      ...{ bars: [], tail: undefined, stages: [], mostMs: 0, focus: null },
    });
    expect(compositionOf([slice({ queue: 1 }, { requests: 0 })]).bars).toEqual([]);
  });

  it('puts each stage in the same order, what no stage measured last, and adds up', () => {
    const rows = [
      slice({ forward: 30, queue: 4, unaccounted: 7 }),
      slice({ queue: 190, forward: 60, unaccounted: 72 }),
    ];
    const { bars, stages, mostMs } = compositionOf(rows);
    expect(stages).toEqual(['queue', 'forward', 'unaccounted']);
    expect(mostMs).toBe(322);
    for (const bar of bars) {
      const last = bar.segments.at(-1);
      expect((last?.startMs ?? 0) + (last?.ms ?? 0)).toBeCloseTo(bar.slice.mean_ms ?? 0);
    }
  });

  it('begins each bar with the stage that was chosen, which is the one to look at', () => {
    const rows = [slice({ forward: 30, queue: 4 }), slice({ queue: 190, forward: 60 })];
    const { bars, stages, focus } = compositionOf(rows, 'forward');
    expect([stages, focus]).toEqual([['forward', 'queue'], 'forward']);
    expect(bars.map(({ segments }) => segments[0])).toEqual([
      ...[
        { stage: 'forward', startMs: 0, ms: 30 },
        { stage: 'forward', startMs: 0, ms: 60 },
      ],
    ]);
  });

  it('is read at p99: time-outs beyond it neither lead nor leave the others without width', () => {
    const rows = [
      slice({ forward: 20, features: 10 }, { to_share: 0.9 }),
      slice({ forward: 20, features: 60 }, { from_share: 0.9, to_share: 0.989 }),
      slice({ forward: 20, features: 180 }, { from_share: 0.989, to_share: 0.999 }),
      slice({ forward: 1_900, features: 100 }, { from_share: 0.999 }),
    ];
    const { bars, tail, stages, mostMs, focus } = compositionOf(rows);
    expect([tail, stages, mostMs, focus]).toEqual([
      ...[rows[2], ['features', 'forward'], 200, 'features'],
    ]);
    expect(bars.map(({ scaleMs, isCut }) => [scaleMs, isCut])).toEqual([
      ...[
        [200, false],
        [200, false],
        [200, false],
        [2_000, true],
      ],
    ]);
  });

  it('points at the stage that grew most, not at the largest', () => {
    const grown = slice({ forward: 100, queue: 60 }, {}, { forward: 95, queue: 10 });
    expect(compositionOf([grown]).focus).toBe('queue');
    const same = slice({ forward: 100, queue: 60 }, {}, { forward: 98, queue: 59 });
    expect(compositionOf([same]).focus).toBe('forward');
  });

  it('over time stacks the slowest slice of each step and has gaps', () => {
    const fromMs = Date.parse('2026-11-01T10:00:00Z');
    const at = (i: number) => new Date(fromMs + i * 60_000).toISOString();
    const rows = [
      slice({ queue: 1, forward: 2 }, { at: at(0), from_share: 0 }),
      slice({ queue: 10, forward: 20 }, { at: at(0), from_share: 0.99 }),
      slice({ forward: 5 }, { at: at(2), from_share: 0.5 }),
    ];
    const grid = { fromMs, toMs: fromMs + 180_000, stepMs: 60_000, steps: 3 };
    const { layers, mostMs } = stackedAreasOf(rows, ['queue', 'forward'], grid);
    expect(layers.map(({ edges }) => edges)).toEqual([
      [[0, 10], null, [0, 0]],
      [[10, 30], null, [0, 5]],
    ]);
    expect(mostMs).toBe(30);
  });
});

describe('blame', () => {
  const part = (stage: string, excess_ms: number) => ({ stage, excess_ms, share: excess_ms / 144 });

  it('of nothing has no bars', () => {
    expect(blameOf([], 5)).toMatchObject({ bars: [], totalMs: 0 });
  });

  it('has signed bars from a common zero that add up', () => {
    const { bars, totalMs, zero, total } = blameOf(
      [part('features', 177), part('queue', -32), part('rest', -1)],
      5,
    );
    expect(totalMs).toBe(144);
    expect(zero).toBeCloseTo(32 / 209);
    expect(bars[0]?.left).toBeCloseTo(zero);
    expect((bars[1]?.left ?? 0) + (bars[1]?.width ?? 0)).toBeCloseTo(zero);
    expect(total.left).toBeCloseTo(zero);
  });

  it('sums up the stages that are too many', () => {
    const { bars, totalMs } = blameOf(
      [50, 10, 5, -2, -20].map((ms, i) => part(`s${i}`, ms)),
      3,
    );
    // The largest of either sign stay.
    expect(bars.map(({ stage, excess_ms }) => [stage, excess_ms])).toEqual([
      ['s0', 50],
      ['s4', -20],
      ['3 smaller stages', 13],
    ]);
    expect(bars.reduce((sum, { excess_ms }) => sum + excess_ms, 0)).toBe(totalMs);
  });
});

describe('the bars of a request', () => {
  it('stand beside typical ones, show stages it lacks, and point at the odd one', () => {
    const bars = stageBarsOf(
      [
        { stage: 'queue', ms: 300 },
        { stage: 'forward', ms: 60 },
      ],
      360,
      [
        { stage: 'queue', ms: 5 },
        { stage: 'forward', ms: 30 },
      ],
      [
        { stage: 'queue', ms: 100 },
        { stage: 'forward', ms: 55 },
        { stage: 'features', ms: 20 },
      ],
    );
    expect(bars).toEqual([
      { stage: 'queue', ms: 300, medianMs: 5, p99Ms: 100, isOdd: true },
      { stage: 'features', ms: 0, medianMs: null, p99Ms: 20, isOdd: false },
      { stage: 'forward', ms: 60, medianMs: 30, p99Ms: 55, isOdd: false },
    ]);
  });

  it('have a legend of all stages of the list, the longest in all first', () => {
    const request = (queue: number, forward: number, more: Means = {}) => ({
      stages: Object.entries({ queue, forward, ...more }).map(([stage, ms]) => ({ stage, ms })),
    });
    expect(listedStages([request(300, 60), request(10, 400, { features: 9 })])).toEqual([
      'forward',
      'queue',
      'features',
    ]);
    expect(listedStages([])).toEqual([]);
  });
});
