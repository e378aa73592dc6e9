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
