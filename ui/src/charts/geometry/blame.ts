/** A stage's part of an excess. */
export interface BlamePart {
  readonly stage: string;
  readonly excess_ms: number;
  readonly share: number | null;
}

/** A bar from zero, in parts of the chart's width. */
export interface BlameBar extends BlamePart {
  readonly left: number;
  readonly width: number;
}

/** Signed bars on a common scale, and their sum. */
export interface Blame {
  readonly bars: readonly BlameBar[];
  readonly totalMs: number;
  /** Bar of the sum. */
  readonly total: { readonly left: number; readonly width: number };
  /** Position of zero. */
  readonly zero: number;
}

/** Lays out an excess by stage: the largest bars of either sign, and one for the rest, so that they add up. */
export function blameOf(parts: readonly BlamePart[], most: number): Blame {
  const bySize = parts.toSorted((a, b) => Math.abs(b.excess_ms) - Math.abs(a.excess_ms));
  const largest = new Set(bySize.slice(0, parts.length <= most ? most : most - 1));
  const shown = parts.filter((part) => largest.has(part));
  const rest = parts.filter((part) => !largest.has(part));
  if (rest.length > 0) shown.push(restOf(rest));
  const totalMs = parts.reduce((sum, { excess_ms }) => sum + excess_ms, 0);
  const low = Math.min(0, totalMs, ...shown.map(({ excess_ms }) => excess_ms));
  const high = Math.max(0, totalMs, ...shown.map(({ excess_ms }) => excess_ms));
  const extent = high - low || 1;
  const barOf = (value: number) => ({
    left: (Math.min(0, value) - low) / extent,
    width: Math.abs(value) / extent,
  });
  return {
    bars: shown.map((part) => ({ ...part, ...barOf(part.excess_ms) })),
    totalMs,
    total: barOf(totalMs),
    zero: -low / extent,
  };
}

function restOf(rest: readonly BlamePart[]): BlamePart {
  const hasShare = rest.every(({ share }) => share !== null);
  return {
    // Not "rest": that is what the sentence of the blame leaves out.
    stage: `${rest.length} smaller stages`,
    excess_ms: rest.reduce((sum, { excess_ms }) => sum + excess_ms, 0),
    share: hasShare ? rest.reduce((sum, { share }) => sum + (share ?? 0), 0) : null,
  };
}
