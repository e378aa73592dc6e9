import type { Config } from '../../config/schema.ts';

/** The `detect` block, and what of other blocks goes into events. */
export type DetectOptions = Config['detect'] & {
  readonly runbookUrl?: string | undefined;
};

/** Windows in a row whose requests are counted: what lasts longer is evaluated by its last ones. */
export const longestRun = 30;

/** And within so many, where there are some without a request between them: what was before says nothing of now. */
export const longestSpan = 2 * longestRun;

/** Windows in a row that are counted where a run holds few requests: each has at least one. */
export const longestSparseRun = 3 * longestRun;

/**
 * Multiple of the time in which `min_requests` usually come. A series with so long a pause has no traffic, and
 * what was before says nothing of now.
 */
export const pauseFactor = 2;

/** A window is learnt only when so many more have come and none of them opened an anomaly. */
export const quarantineWindows = 6;

/** Two anomalies that begin within so long may have one cause, whatever their stages: one makes the other slow. */
export function concurrentMs({ window }: Pick<DetectOptions, 'window'>): number {
  return Math.max(90_000, 3 * window);
}
