import type { Config } from '../../config/schema.ts';
import { StageTable } from '../../contract/stage-table.ts';

/** The `detect` block, and what of other blocks goes into events. */
export type DetectOptions = Config['detect'] & {
  readonly runbookUrl?: string | undefined;
  /** @default standard names alone */
  readonly stages?: StageTable;
};

export function detectOptionsOf({ detect, alert, stages }: Config): DetectOptions {
  return { ...detect, runbookUrl: alert.runbook_url, stages: new StageTable(stages) };
}

export function stageTableOf({ stages }: Pick<DetectOptions, 'stages'>): StageTable {
  return stages ?? StageTable.standard;
}

/** Windows in a row whose requests are counted: a longer run is evaluated by its last ones. */
export const longestRun = 30;

/** Span of these windows if some between have no request: earlier ones say nothing of now. */
export const longestSpan = 2 * longestRun;

/** Windows in a row that are counted where a run holds few requests: each has at least one. */
export const longestSparseRun = 3 * longestRun;

/**
 * Multiple of the time in which `min_requests` usually come. A series with a longer pause has no traffic, and
 * its earlier requests say nothing of now.
 */
export const pauseFactor = 2;

/** Windows that must follow a window without opening an anomaly before it is learnt. */
export const quarantineWindows = 6;

/** Time within which two anomalies may have one cause, whatever their stages: one makes the other slow. */
export function concurrentMs({ window }: Pick<DetectOptions, 'window'>): number {
  return Math.max(90_000, 3 * window);
}
