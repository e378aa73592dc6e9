import { describe, expect, it } from 'vitest';
import { sliceEdges, sliceName } from '../../../ui/src/charts/composition/slice-name.ts';
import type { SliceRow } from '../../../ui/src/data/answers.ts';
import { shownName } from '../../../ui/src/format/name.ts';
import { modelTitle } from '../../../ui/src/views/model/model-title.ts';
import { plain } from '../plain.ts';

const slice = (
  from_share: number,
  to_share: number,
  above: number | null,
  below: number | null,
) => ({
  ...{ at: null, from_share, to_share, above_ms: above, below_ms: below },
  ...{ requests: 10, mean_ms: 100, baseline: null },
  parts: [
    { stage: 'queue', mean_ms: 59 },
    { stage: 'forward', mean_ms: 41 },
  ],
});

describe('a slice', () => {
  it.each([
    [slice(0, 1, null, null), 'all requests', ''],
    [slice(0, 0.52, null, 41), 'fastest 52 %', 'below 41 ms'],
    [slice(0.9, 0.988, 78, 304), '90 to 98.8 %', '78 to 304 ms'],
    [slice(0.988, 0.99912, 304, 1024), '98.8 to 99.912 %', '304 to 1,024 ms'],
    [slice(0.986, 0.9989, 6144, 10_240), '98.6 to 99.89 %', '6.14 to 10.2 s'],
    [slice(0.988, 1, 304, null), 'slowest 1.2 %', 'above 304 ms'],
  ] as const)('is named by what it is', (row, name, edges) => {
    expect([plain(sliceName(row)), plain(sliceEdges(row))]).toEqual([name, edges]);
  });
});

describe('a name from the traffic', () => {
  it.each([
    ['ranker', 'ranker'],
    ['a b', 'a b'],
    [' ', '" "'],
    ['\u00a0\u3000', '"\u00a0\u3000"'],
    ['\u200b', '"\u200b"'],
    [' ranker', '" ranker"'],
    ['ranker\n', '"ranker "'],
    ['\u202e', '" "'],
    ['', ''],
    ['מודל ', '\u2068"מודל "\u2069'],
  ])('%j is seen, with quotes where its ends are not: %j', (name, shown) => {
    expect(shownName(name)).toBe(shown);
  });
});

describe('the title of a model', () => {
  const of = { model: 'ranker', requests: 50_000, p50Ms: 60, range: 'the last 6 h' };
  const slices: SliceRow[] = [slice(0, 0.9, null, 80), slice(0.99, 1, 304, null)];

  it('is the answer: p99, and what it is made of', () => {
    const title = modelTitle({ ...of, p99Ms: 310, slices });
    expect(plain(title)).toBe('ranker: p99 310 ms in the last 6 h; beyond it, 59 % is queue');
  });

  it('says whether the requests that it speaks of hold p99, and speaks of none that are farther', () => {
    const titleWith = (...rows: SliceRow[]) =>
      plain(modelTitle({ ...of, p99Ms: 310, slices: rows }));
    const start = 'ranker: p99 310 ms in the last 6 h';
    expect(titleWith(slice(0, 0.985, null, 80), slice(0.985, 1, 80, null))).toBe(
      `${start}; around it, 59 % is queue`,
    );
    expect(titleWith(slice(0, 0.9, null, 80), slice(0.9, 1, 80, null))).toBe(start);
  });

  it('says how many requests p99 needs where there are few', () => {
    const title = modelTitle({ ...of, requests: 9, p99Ms: 310, slices });
    expect(plain(title)).toBe('ranker: median 60 ms in the last 6 h; 9 requests: p99 needs 2,000');
    const gaps = modelTitle({ ...of, requests: 9, noun: 'gap', p99Ms: 310, slices });
    expect(plain(gaps)).toBe('ranker: median 60 ms in the last 6 h; 9 gaps: p99 needs 2,000');
  });

  it('is not turned around or broken by a name', () => {
    const title = modelTitle({ ...of, model: 'a\n\u202eb', p99Ms: null, slices: [] });
    expect(title).toBe('a b: no requests in the last 6 h');
    expect(shownName('מודל')).toBe('\u2068מודל\u2069');
  });

  it('is the name while nothing is known, and says where there was no request', () => {
    const bound = modelTitle({ ...of, p99Ms: 120_000, isAtLeast: true, slices: [] });
    expect(plain(bound)).toContain('p99 at least 120 s');
    expect(modelTitle({ ...of, p99Ms: undefined, slices: [] })).toBe('ranker');
    expect(modelTitle({ ...of, p99Ms: null, slices: [] })).toBe(
      'ranker: no requests in the last 6 h',
    );
    const stagesOnly = ['queue'];
    expect(modelTitle({ ...of, p99Ms: null, slices: [], stagesOnly })).toBe(
      'ranker: no event has a total in the last 6 h, only stages',
    );
  });
});
