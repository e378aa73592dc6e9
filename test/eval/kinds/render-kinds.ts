import { poissonUpperBound } from '../poisson-bound.ts';
import { faultCases } from './fault-cases.ts';
import type { KindOutcome, KindsOutcome } from './run-kinds.ts';

/** Renders the results of the faults of several fleets, as a Markdown table. */
export function renderKinds(runs: readonly KindsOutcome[]): string {
  const outcomes = runs.flatMap((run) => run.outcomes);
  const rows = faultCases.map(({ name }) =>
    rowOf(
      name,
      outcomes.filter((each) => each.name === name),
    ),
  );
  const falsePages = runs.reduce((sum, run) => sum + run.falsePages.length, 0);
  const weeks = runs.reduce((sum, run) => sum + run.seriesHours, 0) / (24 * 7);
  const days = runs.reduce((sum, run) => sum + run.hours, 0) / 24;
  const found = outcomes.filter(({ isKind }) => isKind);
  const mixRight = found.filter(({ isMixRight }) => isMixRight);
  const atMost = poissonUpperBound(falsePages);
  return [
    '| what goes wrong | faults | emitted | median delay, s | longest | stage blamed | cause named | pages per fault | resolves per page |',
    '|---|---:|---:|---:|---:|---:|---:|---:|---:|',
    ...rows,
    rowOf('**all**', outcomes),
    '',
    `Traffic mix distinguished from slowness: ${mixRight.length} of ${found.length} right.`,
    '',
    `While nothing was wrong: ${falsePages} false pages in ${days.toFixed(1)} days of the fleet, which are ${weeks.toFixed(1)} series-weeks; ${perThousand(falsePages, weeks)} per 1,000 of these (at most ${perThousand(atMost, weeks)}, 95 %).`,
    '',
  ].join('\n');
}

function perThousand(pages: number, weeks: number): string {
  return `${Number(((pages / weeks) * 1000).toPrecision(3))}`;
}

function rowOf(name: string, outcomes: readonly KindOutcome[]): string {
  const delays = outcomes.flatMap(({ delayMs }) => delayMs ?? []).sort((a, b) => a - b);
  const seconds = (ms: number | undefined) => (ms === undefined ? '–' : `${Math.round(ms / 1000)}`);
  const part = (answers: readonly (boolean | undefined)[]) => {
    const asked = answers.filter((answer) => answer !== undefined);
    return asked.length === 0 ? '–' : `${asked.filter(Boolean).length} of ${asked.length}`;
  };
  const pages = outcomes.reduce((sum, each) => sum + each.pages, 0);
  const resolves = outcomes.reduce((sum, each) => sum + each.resolves, 0);
  const number = (n: number) => (Number.isFinite(n) ? `${Number(n.toPrecision(3))}` : '–');
  const found = outcomes.filter(({ isKind }) => isKind);
  const cells = [
    `${outcomes.length}`,
    `${found.length}`,
    seconds(delays[(delays.length - 1) >> 1]),
    seconds(delays.at(-1)),
    part(outcomes.map(({ isStage }) => isStage)),
    part(outcomes.map(({ namesCause }) => namesCause)),
    number(pages / found.length),
    number(resolves / pages),
  ];
  return `| ${[name, ...cells].join(' | ')} |`;
}
