import { measureNames, tokenSizes } from '../base/dimensions.ts';
import type { StageTable } from '../contract/stage-table.ts';
import type { Range } from './answers/common.ts';
import type { TimeRange } from './time-range.ts';
import type { WindowBounds } from './window-states.ts';

/** Which starts of the model's process are wanted: requests to a warm one, the cold starts, or both. */
export const starts = ['warm', 'cold', 'all'] as const;
export type Start = (typeof starts)[number];

/** Which requests a view is about; '' matches any value. */
export interface Filters {
  readonly model: string;
  readonly version: string;
  readonly requestType: string;
  readonly region: string;
  /** Pairs that the text of the own dimensions has (`attributePair`); none matches any. */
  readonly attributePairs?: readonly string[] | undefined;
  readonly start: Start;
}

/** The question of every view of latencies: which requests, when, and how complete the windows are. */
export interface Question {
  readonly filters: Filters;
  readonly range: TimeRange;
  readonly bounds: WindowBounds;
}

/** Filters and range as query parameters. `table` has windows that the range's steps consist of. */
export function parametersOf({ filters, range }: Pick<Question, 'filters' | 'range'>) {
  const { start, attributePairs = [], ...values } = filters;
  return {
    ...values,
    attributePairs: [...attributePairs],
    coldStart: coldStartOf(start),
    table: `latency_${range.resolution}`,
    fromSeconds: range.fromSeconds,
    toSeconds: range.toSeconds,
  };
}

/** The value of `cold_start` as a query parameter; '' matches any. */
export const coldStartOf = (start: Start) => ({ warm: 'false', cold: 'true', all: '' })[start];

/** What is no part of the total as query parameters: regular expressions of milestones; names of measures and sizes. */
const notStages = [...measureNames, ...Object.values(tokenSizes)];

export function partParameters({ milestones: { matching, except } }: StageTable) {
  return { milestones: matching, noMilestones: except, measures: notStages };
}

export const isoTime = (seconds: number) => new Date(seconds * 1000).toISOString();

/** The range as an answer has it; without steps it is one. */
export function answeredRange(range: TimeRange, isStepped: boolean): Range {
  return {
    from: isoTime(range.fromSeconds),
    to: isoTime(range.toSeconds),
    step_seconds: isStepped ? range.stepSeconds : null,
  };
}
