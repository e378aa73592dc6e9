import { inRequestOrder } from '../../../../src/base/dimensions.ts';

/** Time of a stage in a request. */
export interface StageMs {
  readonly stage: string;
  readonly ms: number;
}

/** A stage of a request, with the time of typical requests in it. */
export interface StageBar {
  readonly stage: string;
  readonly ms: number;
  readonly medianMs: number | null;
  readonly p99Ms: number | null;
  /** Longer than in requests around p99. */
  readonly isOdd: boolean;
}

/** Growth over the p99 request's from which a stage is odd. */
const oddRatio = 1.5;
/** Least part of the request's total that an odd stage has. */
const oddShare = 0.1;

/** Stages of a request and of typical ones, in the request's order; those it lacks have 0 ms. */
export function stageBarsOf(
  stages: readonly StageMs[],
  totalMs: number,
  median: readonly StageMs[],
  p99: readonly StageMs[],
): StageBar[] {
  const find = (all: readonly StageMs[], stage: string) =>
    all.find((known) => known.stage === stage)?.ms ?? null;
  const own = new Set(stages.map(({ stage }) => stage));
  const others = [...p99, ...median].map(({ stage }) => stage).filter((stage) => !own.has(stage));
  const lacked = [...new Set(others)].map((stage) => ({ stage, ms: 0 }));
  return inRequestOrder([...stages, ...lacked]).map(({ stage, ms }) => {
    const p99Ms = find(p99, stage);
    const isOdd = p99Ms !== null && ms >= oddRatio * p99Ms && ms >= oddShare * totalMs;
    return { stage, ms, medianMs: find(median, stage), p99Ms, isOdd };
  });
}

/** A milestone of a request, in parts of its bar: where it is reached. */
export interface MilestoneTick {
  readonly stage: string;
  readonly ms: number;
  /** At most 1: clocks may differ. */
  readonly at: number;
}

export function milestoneTicksOf(milestones: readonly StageMs[], totalMs: number): MilestoneTick[] {
  if (!(totalMs > 0)) return [];
  return milestones.map(({ stage, ms }) => ({ stage, ms, at: Math.min(1, ms / totalMs) }));
}

/** Milestones of all requests of a list, for its legend. */
export function listedMilestones(
  requests: readonly { readonly milestones: readonly StageMs[] }[],
): string[] {
  const names = requests.flatMap(({ milestones }) => milestones.map(({ stage }) => stage));
  return [...new Set(names)].sort();
}

/** Stages of all requests of a list, for its legend: that with the most time first. */
export function listedStages(
  requests: readonly { readonly stages: readonly StageMs[] }[],
): string[] {
  const sums = new Map<string, number>();
  for (const { stages } of requests) {
    for (const { stage, ms } of stages) sums.set(stage, (sums.get(stage) ?? 0) + ms);
  }
  return [...sums].sort(([, x], [, y]) => y - x).map(([stage]) => stage);
}

/** Reports whether a request of a list says how many tokens it has. */
export function hasTokens(
  requests: readonly {
    readonly input_tokens: number | null;
    readonly output_tokens: number | null;
  }[],
): boolean {
  return requests.some(
    ({ input_tokens, output_tokens }) => input_tokens !== null || output_tokens !== null,
  );
}
