import type { TimeSpan } from '../../format/time.ts';

/** Rows for spans so that those of a row do not touch: the first row that is free, in the order given. */
export function stackSpans(spans: readonly TimeSpan[], gapMs: number): number[] {
  const ends: number[] = [];
  const byStart = spans.map((span, i) => ({ ...span, i })).sort((x, y) => x.fromMs - y.fromMs);
  const rows = new Array<number>(spans.length).fill(0);
  for (const { fromMs, toMs, i } of byStart) {
    const free = ends.findIndex((end) => end + gapMs <= fromMs);
    const row = free === -1 ? ends.length : free;
    ends[row] = toMs;
    rows[i] = row;
  }
  return rows;
}

/** Moves labels apart to a least distance, keeping their order, inside [from, to]. */
export function spreadLabels(
  wanted: readonly number[],
  distance: number,
  [from, to]: readonly [number, number],
): number[] {
  const order = wanted.map((y, i) => ({ y, i })).sort((a, b) => a.y - b.y);
  const placed = new Array<number>(wanted.length).fill(0);
  let least = from;
  for (const { y, i } of order) {
    const at = Math.max(y, least);
    placed[i] = at;
    least = at + distance;
  }
  let most = to;
  for (const { i } of order.reverse()) {
    const at = Math.min(placed[i] ?? 0, most);
    placed[i] = at;
    most = at - distance;
  }
  return placed;
}
