import { renderTable } from '../render-table.ts';
import { allowedPauseMs } from './cluster-faults.ts';
import type { ClusterSummary, FaultOutcome } from './run-cluster.ts';

/** Whether a run kept all promises. */
export function isRightOnCluster(summary: ClusterSummary): boolean {
  const { records, consumed, verify, selfExits, listenerWarnings, outcomes } = summary;
  const isExact = verify.ok && records === consumed;
  return isExact && selfExits.length === 0 && listenerWarnings === 0 && outcomes.every(isHeld);
}

function isHeld({ fault, pauseMs }: FaultOutcome): boolean {
  const allowedMs = fault === 'none' ? undefined : allowedPauseMs[fault];
  return allowedMs === undefined || pauseMs <= allowedMs;
}

export function renderCluster(summary: ClusterSummary): string {
  const { seed, eventsPerSecond, outcomes, records, consumed, selfExits, verify } = summary;
  const rows = outcomes.map((outcome): [string, string] => {
    const { fault, tookMs, pauseMs } = outcome;
    const allowedMs = fault === 'none' ? undefined : allowedPauseMs[fault];
    const allowed =
      allowedMs === undefined
        ? ''
        : ` (at most ${allowedMs / 1000} s: ${isHeld(outcome) ? 'held' : 'NOT held'})`;
    return [fault, `${seconds(tookMs)}, longest pause ${seconds(pauseMs)}${allowed}`];
  });
  const differences = records === consumed ? [] : [`${consumed} events instead of ${records}`];
  return renderTable(
    [
      ['seed', seed],
      ['input', `${eventsPerSecond} events/s to three brokers`],
      ...rows,
      ['events', `${records} in the topic, ${consumed} in the ledger`],
      ['tailmark verify', verify.ok ? 'ok' : 'NOT ok'],
      ['ended by themselves', String(selfExits.length)],
      ['MaxListeners lines', String(summary.listenerWarnings)],
    ],
    { differences, selfExits, verify },
  );
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
