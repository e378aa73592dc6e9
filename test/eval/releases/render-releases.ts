import { type ReleaseCase, releaseCases } from './release-cases.ts';
import type { ReleaseOutcome } from './run-releases.ts';

/** Renders the result of every release, as a Markdown table. */
export function renderReleases(outcomes: readonly ReleaseOutcome[]): string {
  const rows = releaseCases.flatMap((each) => {
    const ofCase = outcomes.filter(({ name }) => name === each.name);
    return ofCase.length === 0 ? [] : [rowOf(each, ofCase)];
  });
  return [
    '| what is released | series | wanted | reported in time | median delay, s | longest | stage blamed | pages a series, at least | at most | as wanted |',
    '|---|---:|---|---:|---:|---:|---:|---:|---:|---:|',
    ...rows,
    '',
  ].join('\n');
}

/** True where a case has the right result: reported in time, or without a page. */
export function isRight(each: ReleaseCase, outcome: ReleaseOutcome): boolean {
  const { withinSeconds, mostPages, leastPages = 0 } = each;
  const { delaySeconds = Number.POSITIVE_INFINITY, pages } = outcome;
  if (pages > mostPages || pages < leastPages) return false;
  return withinSeconds === undefined || delaySeconds <= withinSeconds;
}

function rowOf(each: ReleaseCase, outcomes: readonly ReleaseOutcome[]): string {
  const { name, withinSeconds, mostPages } = each;
  const found = outcomes.filter(({ pages }) => pages > 0);
  const delays = found.flatMap(({ delaySeconds }) => delaySeconds ?? []).sort((a, b) => a - b);
  const inTime = delays.filter((seconds) => seconds <= (withinSeconds ?? 0));
  const isWanted = withinSeconds !== undefined;
  const noPage = mostPages === 0 ? 'no page' : `${mostPages} page at most`;
  const cells = [
    name,
    `${outcomes.length}`,
    isWanted ? `within ${withinSeconds} s` : noPage,
    isWanted ? `${inTime.length} of ${outcomes.length}` : '–',
    `${delays[(delays.length - 1) >> 1] ?? '–'}`,
    `${delays.at(-1) ?? '–'}`,
    isWanted
      ? `${found.filter(({ blamed }) => blamed === 'forward').length} of ${found.length}`
      : '–',
    `${Math.min(...outcomes.map(({ pages }) => pages))}`,
    `${Math.max(...outcomes.map(({ pages }) => pages))}`,
    `${outcomes.filter((outcome) => isRight(each, outcome)).length} of ${outcomes.length}`,
  ];
  return `| ${cells.join(' | ')} |`;
}
