import { stepsOf, type TimeRange } from '../time-range.ts';

/** Requests of a model in the windows of a range. */
export interface CountedRequests {
  /** True if it has requests in the window before the range. */
  readonly hasBefore: boolean;
  /** Start of its first window with a request. */
  readonly firstSeconds: number;
  /** Requests in that window. */
  readonly firstRequests: number;
  /** Requests in complete windows, by the start of their step. */
  readonly byStep: ReadonlyMap<number, number>;
}

export interface RequestRate {
  readonly perSecond: number;
  /** By step; null before the first data, and where nothing is complete. */
  readonly steps: readonly (number | null)[];
}

/** Up to where whole windows of a range are complete; all of it where none is. */
export function completeEnd(range: TimeRange, windowSeconds: number, completeMs: number): number {
  const end = Math.floor(completeMs / 1000 / windowSeconds) * windowSeconds;
  return end > range.fromSeconds ? Math.min(range.toSeconds, end) : range.toSeconds;
}

/**
 * Requests per second of the time that has data. A model that begins within the range is counted from its second
 * window on: when in the first one it began is not known.
 */
export function requestRate(
  { hasBefore, firstSeconds, firstRequests, byStep }: CountedRequests,
  range: TimeRange,
  { windowSeconds, endSeconds }: { readonly windowSeconds: number; readonly endSeconds: number },
): RequestRate {
  const begins = !hasBefore;
  const fromSeconds = begins ? firstSeconds + windowSeconds : range.fromSeconds;
  const isOneWindow = fromSeconds >= endSeconds;
  const { stepSeconds } = range;
  const firstStep = Math.floor(firstSeconds / stepSeconds) * stepSeconds;
  const inStep = (at: number) =>
    (byStep.get(at) ?? 0) - (begins && at === firstStep ? firstRequests : 0);
  let requests = 0;
  const steps = Array.from({ length: stepsOf(range) }, (_, i) => {
    const at = range.fromSeconds + i * stepSeconds;
    const covered = Math.min(at + stepSeconds, endSeconds) - Math.max(at, fromSeconds);
    if (covered <= 0) return null;
    const counted = inStep(at);
    requests += counted;
    return counted / covered;
  });
  return {
    perSecond: isOneWindow ? firstRequests / windowSeconds : requests / (endSeconds - fromSeconds),
    steps,
  };
}
