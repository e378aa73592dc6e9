import type { SliceRow } from '../../data/answers.ts';
import type { StepGrid } from './step-grid.ts';

/** A stage in a bar: where it begins and how long it is, in milliseconds. */
export interface Segment {
  readonly stage: string;
  readonly startMs: number;
  readonly ms: number;
}

/** The bar of a slice of requests. */
export interface SliceBar {
  readonly slice: SliceRow;
  readonly segments: readonly Segment[];
  readonly baseline: readonly Segment[] | null;
  /** Milliseconds of the whole width. */
  readonly scaleMs: number;
  /** True if it is too long for the common scale, and fills the width alone. */
  readonly isCut: boolean;
}

/** Bars of slices on one linear scale, every stage in the same place of each bar. */
export interface Composition {
  readonly bars: readonly SliceBar[];
  /** The slice next to p99. */
  readonly tail: SliceRow | undefined;
  /** Order in a bar: the largest of the tail first, unmeasured time last. */
  readonly stages: readonly string[];
  /** End of the scale. */
  readonly mostMs: number;
  /** Stage that grew most over its baseline in the tail, else its largest one. */
  readonly focus: string | null;
}

/** Time that no stage measured. */
export const unaccounted = 'unaccounted';

/** Growth over the baseline from which a stage is the one to look at. */
const noticed = { ratio: 1.25, shareOfTotal: 0.05 } as const;

/** Slices from here on are beyond p98. */
const tailFrom = 0.98;

/** The slice next to p99, without what is far beyond it; where slices are coarser, the slowest. */
export function tailSlice(rows: readonly SliceRow[]): SliceRow | undefined {
  const slices = rows.filter(({ requests }) => requests > 0);
  return slices.find(({ from_share }) => from_share >= tailFrom) ?? slices.at(-1);
}

/** Position of a slice relative to p99, which the slice `around` holds; undefined of a coarse slice. */
export function tailPlace({ from_share }: SliceRow): 'around' | 'beyond' | undefined {
  if (from_share < tailFrom) return undefined;
  return from_share < 0.99 ? 'around' : 'beyond';
}

/** Slices beyond the tail that are longer by this factor are cut: time-outs would leave the others no width. */
const longestBeyondTail = 3;

/** @param chosen stage that each bar begins with, to compare it between them; null for none. */
export function compositionOf(
  rows: readonly SliceRow[],
  chosen: string | null = null,
): Composition {
  const slices = rows.filter(({ requests }) => requests > 0);
  const tail = tailSlice(slices);
  const stages = stageOrder(slices, tail, chosen);
  const ends = slices.map(({ mean_ms, baseline }) =>
    Math.max(mean_ms ?? 0, baseline?.mean_ms ?? 0),
  );
  const toTail = tail === undefined ? 0 : slices.indexOf(tail) + 1;
  const tailMs = Math.max(0, ...ends.slice(0, toTail));
  const isCut = (end: number) => end > longestBeyondTail * tailMs;
  const mostMs = Math.max(0, ...ends.filter((end) => !isCut(end)));
  const bars = slices.map((slice, i) => {
    const end = ends[i] ?? 0;
    return {
      slice,
      segments: segmentsOf(slice.parts, stages),
      baseline: slice.baseline === null ? null : segmentsOf(slice.baseline.parts, stages),
      scaleMs: isCut(end) ? end : mostMs,
      isCut: isCut(end),
    };
  });
  return { bars, tail, stages, mostMs, focus: chosen ?? focusOf(tail, stages) };
}

/** Stages of all slices: the chosen one, then by their mean in the tail, what no stage measured last. */
function stageOrder(
  slices: readonly SliceRow[],
  tail: SliceRow | undefined,
  chosen: string | null,
): string[] {
  const means = new Map<string, number>();
  for (const { parts } of slices) for (const { stage } of parts) means.set(stage, 0);
  for (const { stage, mean_ms } of tail?.parts ?? []) means.set(stage, mean_ms);
  const rank = (stage: string) => {
    if (stage === chosen) return Number.POSITIVE_INFINITY;
    return stage === unaccounted ? -1 : (means.get(stage) ?? 0);
  };
  return [...means.keys()].sort((x, y) => rank(y) - rank(x));
}

type Parts = SliceRow['parts'];

function segmentsOf(parts: Parts, stages: readonly string[]): Segment[] {
  const means = new Map(parts.map(({ stage, mean_ms }) => [stage, mean_ms]));
  // Clocks of stages that overlap can leave less than nothing for what no stage measured.
  const known = stages.filter((stage) => (means.get(stage) ?? 0) > 0);
  let startMs = 0;
  return known.map((stage) => {
    const segment = { stage, startMs, ms: means.get(stage) ?? 0 };
    startMs += segment.ms;
    return segment;
  });
}

function focusOf(tail: SliceRow | undefined, stages: readonly string[]): string | null {
  const largest = stages[0] ?? null;
  if (tail?.baseline == null) return largest;
  const before = new Map(tail.baseline.parts.map(({ stage, mean_ms }) => [stage, mean_ms]));
  const grown = tail.parts
    .map(({ stage, mean_ms }) => ({ stage, mean_ms, growth: mean_ms - (before.get(stage) ?? 0) }))
    .filter(({ stage }) => stage !== unaccounted)
    .sort((x, y) => y.growth - x.growth)[0];
  if (grown === undefined) return largest;
  const isMuch =
    grown.mean_ms >= noticed.ratio * (grown.mean_ms - grown.growth) &&
    grown.growth >= noticed.shareOfTotal * (tail.mean_ms ?? 0);
  return isMuch ? grown.stage : largest;
}

/** A band of a stacked area over time. */
export interface StackedLayer {
  readonly stage: string;
  /** Lower and upper edge at each step; null where there was no request. */
  readonly edges: readonly (readonly [number, number] | null)[];
}

export interface StackedAreas {
  readonly times: readonly number[];
  readonly rows: readonly (SliceRow | null)[];
  readonly layers: readonly StackedLayer[];
  readonly mostMs: number;
}

/** The slowest slice of each step, its stages stacked in the order given. */
export function stackedAreasOf(
  rows: readonly SliceRow[],
  stages: readonly string[],
  grid: StepGrid,
): StackedAreas {
  const slowest = new Array<SliceRow | null>(grid.steps).fill(null);
  for (const row of rows) {
    if (row.at === null || row.requests === 0) continue;
    const i = Math.round((Date.parse(row.at) - grid.fromMs) / grid.stepMs);
    const known = slowest[i];
    if (known === undefined) continue;
    if (known === null || row.from_share > known.from_share) slowest[i] = row;
  }
  const segments = slowest.map((row) =>
    row === null ? null : new Map(segmentsOf(row.parts, stages).map((part) => [part.stage, part])),
  );
  const ends = segments.map((known) => {
    let end = 0;
    for (const { startMs, ms } of known?.values() ?? []) end = Math.max(end, startMs + ms);
    return end;
  });
  return {
    times: slowest.map((_, i) => grid.fromMs + i * grid.stepMs),
    rows: slowest,
    layers: stages.map((stage, order) => ({
      stage,
      edges: segments.map((known) => (known === null ? null : edgesOf(known, stages, order))),
    })),
    mostMs: Math.max(0, ...ends),
  };
}

/** Edges of a stage in a stack; a stage without time has none and lies where the ones before it end. */
function edgesOf(
  known: ReadonlyMap<string, Segment>,
  stages: readonly string[],
  order: number,
): readonly [number, number] {
  const own = known.get(stages[order] ?? '');
  if (own !== undefined) return [own.startMs, own.startMs + own.ms];
  let end = 0;
  for (const stage of stages.slice(0, order)) end += known.get(stage)?.ms ?? 0;
  return [end, end];
}
