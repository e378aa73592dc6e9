import { hourMs } from '../../src/base/time.ts';
import { faultKinds } from './fault-kinds.ts';
import type { SimSummary } from './sim-summary.ts';

/** Cost of a run. */
export interface SimCost {
  readonly wallMs: number;
  /** Of all threads. */
  readonly cpuMs: number;
  readonly jobs: number;
}

/** Columns of a fault's name and of its counts. */
const NAME_WIDTH = 22;
const COUNT_WIDTH = 9;

/** Renders the summary page of many seeds. */
export function renderSimSummary(summary: SimSummary, cost: SimCost): string {
  const { seedCount, failed } = summary;
  const rows: [string, string][] = [
    ['seeds', grouped(seedCount)],
    ['events', grouped(summary.eventCount)],
    ['records', grouped(summary.recordCount)],
    ['virtual time', `${Math.round(summary.virtualMs / hourMs)} h`],
    ['wall time', `${(cost.wallMs / 1000).toFixed(1)} s, ${cost.jobs} threads`],
    ['CPU a seed', `${(cost.cpuMs / Math.max(1, seedCount)).toFixed(1)} ms`],
    ['bad seeds', failed.length === 0 ? '0' : `${failed.length}: ${list(failed)}`],
  ];
  const lines = rows.map(([name, value]) => `${name.padEnd(NAME_WIDTH)}  ${value}`);
  const line = (name: string, times: string, seeds: string, what: string) =>
    `${name.padEnd(NAME_WIDTH)}${times.padStart(COUNT_WIDTH)}${seeds.padStart(COUNT_WIDTH)}  ${what}`;
  lines.push('', line('fault', 'times', 'seeds', 'what it is'));
  for (const [kind, { times, seeds }] of summary.faults) {
    lines.push(line(kind, grouped(times), grouped(seeds), faultKinds[kind]));
  }
  return `${lines.join('\n')}\n`;
}

function list(failed: SimSummary['failed']): string {
  return failed.map(({ seed }) => seed).join(' ');
}

function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
