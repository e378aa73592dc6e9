import type { VerdictOutcome } from './run-verdict.ts';
import type { VerdictCase } from './verdict-cases.ts';

const columns = [
  ...['durations', 'minutes vary by', 'requests a minute', 'candidate', 'pairs', 'ever fail'],
  ...['minutes to fail, median', 'ever pass', 'minutes to pass, median', 'neither'],
];

export const verdictHeader = `| ${columns.join(' | ')} |\n|---|---|---:|---|---:|---:|---:|---:|---:|---:|\n`;

/** Renders a row of the Markdown table. Medians are of all pairs; – where fewer than half came to it. */
export function verdictRow(each: VerdictCase, outcomes: readonly VerdictOutcome[]): string {
  const { law, variation, change, rates, blockMinutes = 1 } = each;
  const failed = outcomes.map(({ failedAfter }) => failedAfter);
  const passed = outcomes.map(({ passedAfter }) => passedAfter);
  const neither = outcomes.filter((of) => (of.failedAfter ?? of.passedAfter) === undefined).length;
  const pairs = outcomes.length;
  const cells = [
    law.name,
    `${variation.name}${blockMinutes === 1 ? '' : `; blocks of ${blockMinutes} minutes`}`,
    rates[0] === rates[1]
      ? rates[0].toLocaleString('en-US')
      : `${rates[0]} of ${rates[0] + rates[1]}`,
    change.name,
    `${pairs}`,
    ...[percent(count(failed), pairs), median(failed), percent(count(passed), pairs)],
    ...[median(passed), percent(neither, pairs)],
  ];
  return `| ${cells.join(' | ')} |\n`;
}

export function count(minutes: readonly (number | undefined)[]): number {
  return minutes.filter((each) => each !== undefined).length;
}

export function percent(n: number, of: number): string {
  return `${((100 * n) / of).toFixed(1)} %`;
}

export function median(minutes: readonly (number | undefined)[]): string {
  const sorted = minutes.map((each) => each ?? Infinity).toSorted((a, b) => a - b);
  const middle = sorted[(sorted.length - 1) >> 1] ?? Infinity;
  return middle === Infinity ? '–' : `${middle}`;
}
