import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { delayRatePerSecond, type SlowPart, trueRatio } from './run-delay.ts';
import type { FaultCounts } from './run-faults.ts';
import type { IncidentOutcome } from './run-incident.ts';

export interface Incidents {
  readonly flaps: readonly { kind: string; outcomes: readonly (readonly AnomalyEvent[])[] }[];
  readonly incidents: readonly {
    kind: string;
    lasts: string;
    outcomes: readonly IncidentOutcome[];
  }[];
  /** Milliseconds until the event, of each series. */
  readonly delays: readonly { part: SlowPart; outcomes: readonly (number | undefined)[] }[];
  readonly digests: readonly {
    family: string;
    stored: readonly FaultCounts[];
    raw: readonly FaultCounts[];
  }[];
}

/** Renders all of it as Markdown tables. */
export function renderIncidents({ flaps, incidents, delays, digests }: Incidents): string {
  const all = digests.flatMap(({ stored }) => stored);
  const allRaw = digests.flatMap(({ raw }) => raw);
  return [
    line([
      'comes and goes for an hour',
      ...[
        'series',
        'emitted',
        'pages, at most',
        'notifications, mean',
        'at most',
        'resolves per page',
      ],
    ]),
    rule(7),
    ...flaps.map(({ kind, outcomes }) => {
      const emitted = outcomes.filter((events) => events.length > 0);
      const pages = emitted.map((events) => statesOf(events, 'opened'));
      const resolves = emitted.map((events) => statesOf(events, 'resolved'));
      const notifications = emitted.map((events) => events.length);
      return line([
        kind,
        `${outcomes.length}`,
        `${emitted.length}`,
        number(Math.max(...pages)),
        number(sum(notifications) / emitted.length),
        number(Math.max(...notifications)),
        number(sum(resolves) / sum(pages)),
      ]);
    }),
    '',
    line([
      'lasts for',
      ...['series', 'emitted', 'pages, at most', 'notifications, at most', 'resolves per page'],
      ...['over after, minutes, at most', 'baseline’s p99 moved by it, at most'],
      ...['apart from that without it, at most', 'two hours after the end'],
    ]),
    rule(10),
    ...incidents.map(({ kind, lasts, outcomes }) => {
      const emitted = outcomes.filter((outcome) => outcome.emitted.length > 0);
      const pages = emitted.map((outcome) => statesOf(outcome.emitted, 'opened'));
      const resolves = emitted.map((outcome) => statesOf(outcome.emitted, 'resolved'));
      const overAfter = emitted.map(({ overAfterMs = Number.NaN }) => overAfterMs / 60_000);
      return line([
        `${lasts}: ${kind}`,
        `${outcomes.length}`,
        `${emitted.length}`,
        number(Math.max(...pages)),
        number(Math.max(...emitted.map((outcome) => outcome.emitted.length))),
        number(sum(resolves) / sum(pages)),
        number(Math.max(...overAfter)),
        percent(Math.max(...emitted.map(({ moved }) => moved))),
        percent(Math.max(...emitted.map(({ apart }) => apart))),
        percent(Math.max(...emitted.map(({ movedAfter }) => movedAfter))),
      ]);
    }),
    '',
    line([
      `how soon, at ${delayRatePerSecond} requests a second`,
      ...['p95 of the stage', 'p99', 'series', 'emitted', 'median delay, s', 'longest'],
    ]),
    rule(7),
    ...delays.map(({ part, outcomes }) => {
      const { stage, share, factor } = part;
      const emitted = outcomes.filter((ms) => ms !== undefined).sort((a, b) => a - b);
      const middle = emitted[Math.ceil(emitted.length / 2) - 1];
      return line([
        `${share === 1 ? 'all' : percent(share)} of ${stage} ×${factor}`,
        ...[0.95, 0.99].map((q) => `×${trueRatio(part, q).toFixed(1)}`),
        ...[`${outcomes.length}`, `${emitted.length}`],
        ...[middle, emitted.at(-1)].map((ms = Number.NaN) => number(ms / 1000)),
      ]);
    }),
    '',
    line([
      'what the detector sees',
      ...['faults', 'found by digests', 'by every request', 'false pages by digests'],
      ...['by every request', 'F1 by digests', 'by every request'],
    ]),
    rule(8),
    ...digests.map(({ family, stored, raw }) => digestRow(family, stored, raw)),
    digestRow('**all**', all, allRaw),
    '',
  ].join('\n');
}

function digestRow(name: string, stored: readonly FaultCounts[], raw: readonly FaultCounts[]) {
  const of = (counts: readonly FaultCounts[], key: keyof FaultCounts) =>
    sum(counts.map((count) => count[key]));
  return line([
    name,
    `${of(stored, 'faults')}`,
    ...[stored, raw].map((counts) => `${of(counts, 'found')}`),
    ...[stored, raw].map((counts) => `${of(counts, 'falsePages')}`),
    ...[stored, raw].map((counts) => {
      const found = of(counts, 'found');
      const missed = of(counts, 'faults') - found;
      return percent((2 * found) / (2 * found + missed + of(counts, 'falsePages')));
    }),
  ]);
}

function statesOf(events: readonly AnomalyEvent[], state: AnomalyEvent['state']): number {
  return events.filter((event) => event.state === state).length;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function rule(columns: number): string {
  return `|---|${'---:|'.repeat(columns - 1)}`;
}

function number(n: number): string {
  return Number.isFinite(n) ? Number(n.toPrecision(3)).toString() : '–';
}

function percent(n: number): string {
  return Number.isFinite(n) ? `${(n * 100).toFixed(1)} %` : '–';
}
