import { formatDuration } from '../../src/config/duration.ts';
import type { OutageSummary } from './outage-summary.ts';
import { renderTable } from './render-table.ts';

const memoryLimitMib = 512;
const leastMultiple = 3;

/** Renders the page about the cost of an outage. */
export function renderOutage(summary: OutageSummary): string {
  const { differences, verify, eventsPerSecond, catchUpMs, catchUpEvents, selfExits } = summary;
  const perSecond = (catchUpEvents * 1000) / catchUpMs;
  const multiple = perSecond / eventsPerSecond;
  const peakMib = mib(summary.peakBytes);
  const holds = (held: boolean) => (held ? 'held' : 'NOT held');
  return renderTable(
    [
      ['seed', summary.seed],
      ['ClickHouse away', formatDuration(summary.outageMs)],
      ['input', `${Math.round(summary.publishedPerSecond)} events/s, ${eventsPerSecond} asked for`],
      ['events', String(summary.events)],
      ['backlog at its end', `${summary.backlogEvents} events`],
      [
        'caught up in',
        `${(catchUpMs / 1000).toFixed(1)} s: ${Math.round(perSecond)} events/s, ` +
          `${multiple.toFixed(1)} times the input ` +
          `(at least ${leastMultiple}: ${holds(multiple >= leastMultiple)})`,
      ],
      [
        'memory, the most',
        `${peakMib} MiB (limit ${memoryLimitMib} MiB: ${holds(peakMib <= memoryLimitMib)})`,
      ],
      ...summary.memory.map(({ when, bytes }): [string, string] => [
        `  ${when}`,
        `${mib(bytes)} MiB`,
      ]),
      ['differences', `${differences.length} of ${summary.compared} counts, sums and offsets`],
      ['tailmark verify', verify.ok ? 'ok' : 'NOT ok'],
      ['ended by themselves', String(selfExits.length)],
    ],
    summary,
  );
}

function mib(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
