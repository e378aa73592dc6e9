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

/** A label on a time axis that others may stand on. */
export interface Flag {
  /** Place of its pole, in pixels. */
  readonly x: number;
  readonly text: string;
}

/** Flags that are drawn as one: their indices, in the order of time. */
export type FlagGroup = readonly [number, ...number[]];

/** Upper bound of the width of a label, in pixels: a pole, and letters of 12 px. */
export function flagWidth(text: string): number {
  return 20 + 7.5 * text.length;
}

/**
 * Joins flags whose labels would stand on each other: a label lies right of its pole, or left of it where it would leave
 * the axis. Joined ones have a shorter label, so a later flag may stand alone again.
 *
 * @param flags in the order of time
 */
export function joinFlags(
  flags: readonly Flag[],
  axisWidth: number,
  joinedText: (count: number) => string,
): readonly FlagGroup[] {
  const groups: [number, ...number[]][] = [];
  const boxOf = (group: FlagGroup) => {
    const { x, text } = flags[group[0]] ?? { x: 0, text: '' };
    const width = flagWidth(group.length === 1 ? text : joinedText(group.length));
    return isLeft(x, width, axisWidth) ? { from: x - width, to: x } : { from: x, to: x + width };
  };
  for (const i of flags.keys()) {
    groups.push([i]);
    // A joined label may reach further to the left than the flag before it.
    while (groups.length > 1) {
      const [before, last] = [groups.at(-2) as FlagGroup, groups.at(-1) as FlagGroup];
      const [a, b] = [boxOf(before), boxOf(last)];
      const isApart = a.to <= b.from && a.from < b.from;
      if (isApart) break;
      groups.splice(-2, 2, [...before, ...last]);
    }
  }
  return groups;
}

/** True if a label stands left of its pole. */
export function isLeft(x: number, width: number, axisWidth: number): boolean {
  return x + width > axisWidth;
}
