import type { ChaosSummary } from './chaos-summary.ts';
import { faultKinds } from './fault-kinds.ts';
import { renderTable } from './render-table.ts';

/** Limit that the documentation promises. */
const takeoverLimitMs = 15_000;
const drainLimitMs = 5_000;

/** Renders the page about the results of a run. */
export function renderSummary(summary: ChaosSummary): string {
  const { cycles, differences, verify, takeoverMs, drains, selfExits } = summary;
  const all = Object.values(cycles).reduce((sum, count) => sum + count, 0);
  const drainMs = drains.map(({ tookMs }) => tookMs);
  const unfinished = drains.filter(({ ended }) => ended !== 0);
  const rows: [string, string][] = [
    ['seed', summary.seed],
    ['cycles', String(all)],
    ...faultKinds.map((kind): [string, string] => [`  ${kind}`, String(cycles[kind])]),
    [
      'events',
      `${summary.events} in ${summary.messages} messages of ${summary.partitions} partitions`,
    ],
    ['differences', `${differences.length} of ${summary.compared} counts, sums and offsets`],
    ['tailmark verify', verify.ok ? 'ok' : 'NOT ok'],
    [
      `takeover after kill -9`,
      `${spread(takeoverMs, takeoverLimitMs)}, session timeout ${seconds(summary.sessionTimeoutMs)}`,
    ],
    ['end after SIGTERM', spread(drainMs, drainLimitMs)],
    ['  not all stored', String(unfinished.length)],
    ['intents inherited', String(summary.inheritedIntents)],
    ['zombies resumed', String(summary.zombiesResumed)],
    ['requests harmed', String(summary.requestsHit)],
    ['ended by themselves', String(selfExits.length)],
    ['ClickHouse crashed', String(summary.clickhouseDeaths)],
    ['took', seconds(summary.elapsedMs)],
  ];
  return renderTable(rows, summary);
}

/** "12: least 1.0 s, median 2.0 s, most 3.0 s (limit 15.0 s: held)". */
function spread(times: readonly number[], limitMs: number): string {
  const sorted = times.toSorted((a, b) => a - b);
  const [least] = sorted;
  const most = sorted.at(-1);
  const median = sorted[Math.floor(sorted.length / 2)];
  if (least === undefined || median === undefined || most === undefined) return 'none';
  const verdict = most <= limitMs ? 'held' : 'NOT held';
  return (
    `${sorted.length}: least ${seconds(least)}, median ${seconds(median)}, most ${seconds(most)} ` +
    `(limit ${seconds(limitMs)}: ${verdict})`
  );
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
