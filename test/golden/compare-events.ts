import type { EvaluationRun } from './evaluation-runs.ts';
import { emittedDuring, eventLine, streamLine } from './event-lines.ts';
import { expectGolden, lineOf } from './expect-golden.ts';

/** Numbers to six digits: what is beside the events is for people, and the events hold the bits. */
function rounded(value: unknown): unknown {
  if (typeof value === 'number') return Number(value.toPrecision(6));
  if (Array.isArray(value)) return value.map(rounded);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, rounded(each)]));
}

/** A line an element of a list. */
function linesOf(result: unknown): string[] {
  return Array.isArray(result) ? result.map(lineOf) : [lineOf(result)];
}

/** Runs seeds of the evaluation, and compares result and events with what is recorded. */
export function compareEvents({ name, run }: EvaluationRun): void {
  let result: unknown;
  const emitted = emittedDuring(() => {
    result = run();
  });
  const lines = [streamLine(emitted), ...linesOf(rounded(result)), ...emitted.map(eventLine)];
  const file = name.replaceAll(/[^a-z0-9]+/gi, '-').toLowerCase();
  expectGolden(`events/evaluation/${file}.txt`, lines.join('\n'));
}
