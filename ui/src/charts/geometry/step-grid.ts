import type { Range, WindowState, Windows } from '../../data/answers.ts';
import type { StepValues } from './paths.ts';

/** A span of time, in epoch milliseconds. */
export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

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

/** States of all steps: those without a row are open at the end of the range, as many as the answer says. */
export function statesOf(
  byStep: readonly ({ readonly state: WindowState } | undefined)[],
  { open }: Windows,
): WindowState[] {
  return byStep.map((row, i) => row?.state ?? (i >= byStep.length - open ? 'open' : 'final'));
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

/** The open steps at the end that hold no request: nothing of them is stored yet. */
export function notStoredOf(
  states: readonly WindowState[],
  requests: readonly number[],
  { fromMs, toMs, stepMs }: StepGrid,
): TimeSpan | null {
  let first = states.length;
  while (first > 0 && states[first - 1] === 'open' && requests[first - 1] === 0) first--;
  return first === states.length ? null : { fromMs: fromMs + first * stepMs, toMs };
}
