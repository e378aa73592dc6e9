import type { Range, WindowState, Windows } from '../../data/answers.ts';
import type { TimeSpan } from '../../format/time.ts';
import type { StepValues } from './paths.ts';

/** The steps of a range: step `i` begins at `fromMs + i * stepMs`. */
export interface StepGrid extends TimeSpan {
  readonly stepMs: number;
  readonly steps: number;
}

/** Length of a step where an answer says none. */
const defaultStepMs = 60_000;

export function stepGridOf(range: Range): StepGrid {
  const fromMs = Date.parse(range.from);
  const toMs = Date.parse(range.to);
  const stepMs = range.step_seconds === null ? defaultStepMs : range.step_seconds * 1000;
  return { fromMs, toMs, stepMs, steps: Math.max(1, Math.round((toMs - fromMs) / stepMs)) };
}

export const stepStart = ({ fromMs, stepMs }: StepGrid, step: number): number =>
  fromMs + step * stepMs;

/** Rows by step; undefined for a step that has none. Rows outside the range are dropped. */
export function rowsByStep<Row extends { readonly at: string | null }>(
  rows: readonly Row[],
  { fromMs, stepMs, steps }: StepGrid,
): (Row | undefined)[] {
  const byStep = new Array<Row | undefined>(steps).fill(undefined);
  for (const row of rows) {
    const step = row.at === null ? -1 : Math.round((Date.parse(row.at) - fromMs) / stepMs);
    if (step >= 0 && step < steps) byStep[step] = row;
  }
  return byStep;
}

/** Values of the steps up to the first open one, and of the open ones with the last closed one to join them. */
export function splitOpen(values: StepValues, states: readonly WindowState[]) {
  const first = states.indexOf('open');
  const firstOpen = first === -1 ? values.length : first;
  return {
    closed: values.map((value, i) => (i < firstOpen ? value : null)),
    open: values.map((value, i) =>
      i >= firstOpen - 1 && firstOpen < values.length ? value : null,
    ),
  };
}

interface StepRow {
  readonly at: string | null;
  readonly state: WindowState;
  readonly requests: number;
}

/** The steps of an answer: all arrays have one value a step. */
export interface Steps {
  readonly grid: StepGrid;
  /** Steps without a row are open at the end of the range, as many as the answer says. */
  readonly states: readonly WindowState[];
  readonly requests: readonly number[];
  /** The open steps at the end that hold no request: nothing of them is stored yet. */
  readonly notStored: TimeSpan | null;
}

/** An answer by steps. */
export interface Stepped<Row> {
  readonly rows: readonly Row[];
  readonly range: Range;
  readonly windows: Windows;
}

/** Lays the rows of an answer out on its grid; `byStep` is undefined where a step has none. */
export function stepsOf<Row extends StepRow>({ rows, range, windows }: Stepped<Row>) {
  const grid = stepGridOf(range);
  const byStep = rowsByStep(rows, grid);
  const firstOpen = grid.steps - windows.open;
  const states = byStep.map((row, i) => row?.state ?? (i >= firstOpen ? 'open' : 'final'));
  const requests = byStep.map((row) => row?.requests ?? 0);
  const lastKnown = states.findLastIndex((state, i) => state !== 'open' || requests[i] !== 0);
  const notStored =
    lastKnown === grid.steps - 1
      ? null
      : { fromMs: stepStart(grid, lastKnown + 1), toMs: grid.toMs };
  const steps: Steps = { grid, states, requests, notStored };
  return { steps, byStep };
}
