import { poissonUpperBound } from '../poisson-bound.ts';
import { calm, driftCases } from './drift-cases.ts';
import type { DriftOutcome } from './run-drift.ts';

/** Days before the first possible drift. */
const learningDays = 8;

/** Renders the results of drifts, and of series without one, as a Markdown table. */
export function renderDrift(outcomes: readonly DriftOutcome[]): string {
  const rows = driftCases.map(({ name }) =>
    rowOf(
      name,
      outcomes.filter((outcome) => outcome.name === name),
    ),
  );
  const calmOutcomes = outcomes.filter(({ name }) => name === calm.name);
  const pages = calmOutcomes.reduce(
    (sum, { emittedAfterHours }) => sum + emittedAfterHours.length,
    0,
  );
  const weeks = calmOutcomes.reduce((sum, { days }) => sum + (days - learningDays) / 7, 0);
  const perThousand = (n: number) => Number(((n / weeks) * 1000).toPrecision(3));
  const falsely = `${pages} drifts emitted in ${weeks} series-weeks of sixteen families, after the first eight days of each`;
  return [
    '| what gets slower | series | emitted | median hours until then | longest | at a ratio of, median | stage blamed | emitted again | shifts of the tail emitted meanwhile |',
    '|---|---:|---:|---:|---:|---:|---:|---:|---:|',
    ...rows,
    '',
    `While nothing was wrong: ${falsely}; ${perThousand(pages)} per 1,000 of these (at most ${perThousand(poissonUpperBound(pages))}, 95 %).`,
    '',
  ].join('\n');
}

function rowOf(name: string, outcomes: readonly DriftOutcome[]): string {
  const emitted = outcomes.filter(({ emittedAfterHours }) => emittedAfterHours.length > 0);
  const hours = emitted
    .map(({ emittedAfterHours }) => emittedAfterHours[0] as number)
    .sort(ascending);
  const ratios = emitted.flatMap(({ ratio }) => ratio ?? []).sort(ascending);
  const sum = (of: (outcome: DriftOutcome) => number) =>
    outcomes.reduce((total, outcome) => total + of(outcome), 0);
  const number = (n: number | undefined) => (n === undefined ? '–' : `${Number(n.toPrecision(3))}`);
  const cells = [
    `${outcomes.length}`,
    `${emitted.length}`,
    number(hours[(hours.length - 1) >> 1]),
    number(hours.at(-1)),
    number(ratios[(ratios.length - 1) >> 1]),
    emitted.length === 0
      ? '–'
      : `${emitted.filter(({ isBlamed }) => isBlamed).length} of ${emitted.length}`,
    `${sum(({ emittedAfterHours }) => Math.max(0, emittedAfterHours.length - 1))}`,
    `${sum(({ tailShifts }) => tailShifts)}`,
  ];
  return `| ${[name, ...cells].join(' | ')} |`;
}

function ascending(a: number, b: number): number {
  return a - b;
}
