import { describe, expect, it } from 'vitest';
import {
  flagWidth,
  joinFlags,
  spreadLabels,
  stackSpans,
} from '../../../ui/src/charts/geometry/lanes.ts';

const joined = (count: number) => `${count} versions`;
const groupsOf = (flags: readonly (readonly [x: number, text: string])[], width = 1_000) =>
  joinFlags(
    flags.map(([x, text]) => ({ x, text })),
    width,
    joined,
  );

describe('flags of versions', () => {
  it('stand alone where their names have room', () => {
    expect(groupsOf([])).toEqual([]);
    const next = flagWidth('2026-11-01');
    expect(
      groupsOf([
        [0, '2026-11-01'],
        [next, '2026-11-02'],
      ]),
    ).toEqual([[0], [1]]);
  });

  it('are one where a name would stand on the next flag', () => {
    expect(
      groupsOf([
        [0, '2026-11-01'],
        [flagWidth('2026-11-01') - 1, '2026-11-02'],
        [500, 'v3'],
      ]),
    ).toEqual([[0, 1], [2]]);
  });

  it('are one with what the joined label reaches', () => {
    // "v1" ends before 60, "2 versions" does not.
    expect(
      groupsOf([
        [0, 'v1'],
        [10, 'v2'],
        [60, 'v3'],
      ]),
    ).toEqual([[0, 1, 2]]);
  });

  it('are one at the end of the axis, where names stand left of their poles', () => {
    expect(
      groupsOf([
        [500, '2026-11-01'],
        [900, '2026-11-02'],
        [990, '2026-11-03'],
      ]),
    ).toEqual([[0], [1, 2]]);
  });

  it('never overlap, whatever their places and names', () => {
    const width = 340;
    for (let seed = 1; seed <= 200; seed++) {
      let state = seed;
      const next = () => {
        state = (state * 48_271) % 2_147_483_647;
        return state / 2_147_483_647;
      };
      const flags = Array.from({ length: 1 + Math.floor(next() * 12) }, () => ({
        x: next() * width,
        text: 'v'.repeat(1 + Math.floor(next() * 30)),
      })).sort((a, b) => a.x - b.x);
      const groups = joinFlags(flags, width, joined);
      expect(groups.flat()).toEqual(flags.map((_, i) => i));
      const boxes = groups.map((group) => {
        const { x, text } = flags[group[0]] ?? { x: 0, text: '' };
        const length = flagWidth(group.length === 1 ? text : joined(group.length));
        return x + length > width ? [x - length, x] : [x, x + length];
      });
      for (const [i, [from = 0]] of boxes.entries()) {
        if (i > 0) expect(from).toBeGreaterThanOrEqual(boxes[i - 1]?.[1] ?? 0);
      }
    }
  });
});

describe('spans and labels', () => {
  it('share a row unless they touch', () => {
    const spans = [
      [0, 10],
      [5, 15],
      [20, 30],
      [12, 13],
    ].map(([fromMs = 0, toMs = 0]) => ({ fromMs, toMs }));
    expect(stackSpans(spans, 1)).toEqual([0, 1, 0, 0]);
  });

  it('are moved apart, in their order and inside', () => {
    expect(spreadLabels([50, 52, 99], 12, [0, 100])).toEqual([50, 62, 99]);
    expect(spreadLabels([99, 98], 12, [0, 100])).toEqual([100, 88]);
    expect(spreadLabels([], 12, [0, 100])).toEqual([]);
  });
});
