import { describe, expect, it } from 'vitest';
import { fanExtent, fanOf as fanOfAnswer } from '../../../ui/src/charts/geometry/fan.ts';
import type { Range, TailRow, Windows } from '../../../ui/src/data/answers.ts';
import { tailRow } from './tail-row.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 10, 1, 10, minute)).toISOString();
const range = (minutes: number) => ({ from: at(0), to: at(minutes), step_seconds: 60 });
const row = (minute: number, ms: number | null, more: Partial<TailRow> = {}) => {
  const quantiles = [
    { q: 0.5, ms, at_least: false },
    { q: 0.999, ms: ms === null ? null : ms * 10, at_least: false },
  ];
  return tailRow({ at: at(minute), requests: ms === null ? 0 : 5000, quantiles, ...more });
};
const fanOf = (rows: readonly TailRow[], range: Range, windows: Windows) =>
  fanOfAnswer({ rows, range, windows });
const noOpen = { final: 0, provisional: 0, open: 0 };

describe('a tail fan', () => {
  it('of nothing has no extent and no line', () => {
    const fan = fanOf([], range(5), noOpen);
    expect(fanExtent(fan, new Set())).toBeNull();
    expect(fan.lines).toEqual([]);
    expect(fan.requests).toEqual([0, 0, 0, 0, 0]);
  });

  it('has a gap where there was no request, given as a row or not', () => {
    const fan = fanOf([row(0, 10), row(2, null), row(3, 12)], range(4), noOpen);
    expect(fan.lines[0]?.values).toEqual([10, null, null, 12]);
    expect(fan.lines[0]?.lone).toEqual([0, 3]);
  });

  it('draws open steps apart and joined to the last closed one', () => {
    const rows = [row(0, 10), row(1, 11), row(2, 12, { state: 'open' })];
    const [line] = fanOf(rows, range(3), noOpen).lines;
    expect(line?.closed).toEqual([10, 11, null]);
    expect(line?.open).toEqual([null, 11, 12]);
  });

  it('has no open part where all steps are closed', () => {
    const [line] = fanOf([row(0, 10), row(1, 11)], range(2), noOpen).lines;
    expect(line?.open).toEqual([null, null]);
  });

  it('hatches the open steps at the end without requests, not a quiet minute before them', () => {
    const rows = [row(0, 10), row(1, null), row(2, 12)];
    const fan = fanOf(rows, range(5), { final: 3, provisional: 0, open: 2 });
    expect(fan.notStored).toEqual({ fromMs: Date.parse(at(3)), toMs: Date.parse(at(5)) });
    expect(fanOf(rows, range(3), noOpen).notStored).toBeNull();
  });

  it('marks quantiles with fewer than 20 requests beyond them', () => {
    const [p50, p999] = fanOf([row(0, 10)], range(1), noOpen).lines;
    expect(p50?.thin).toEqual([]);
    expect(p999?.thin).toEqual([0]);
  });

  it('draws no line through a lower bound, and marks it', () => {
    const bound = row(1, 120_000).quantiles.map((quantile) => ({ ...quantile, at_least: true }));
    const rows = [row(0, 10), row(1, 120_000, { quantiles: bound }), row(2, 12)];
    const [line] = fanOf(rows, range(3), noOpen).lines;
    expect(line?.values).toEqual([10, 120_000, 12]);
    expect(line?.bounds).toEqual([1]);
    expect(line?.closed).toEqual([10, null, 12]);
    expect(line?.lone).toEqual([0, 2]);
  });

  it('holds the baseline in its extent', () => {
    const baseline = { low_ms: 4, median_ms: 5, high_ms: 400 };
    const fan = fanOf([row(0, 10, { baseline })], range(1), noOpen);
    expect(fanExtent(fan, new Set())).toEqual([4, 400]);
    const other = fanOf([row(0, 10)], range(1), noOpen);
    expect([new Set<number>(), new Set([0.999])].map((hidden) => fanExtent(other, hidden))).toEqual(
      [
        [10, 100],
        [10, 10],
      ],
    );
    expect(fan.baseline?.median).toEqual([5]);
  });
});
