import { lookFirst } from '../../alert/message/look-first.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import { splitOf } from '../../contract/blame-split.ts';
import { effectsText, riseText, stageText } from '../../contract/blame-text.ts';
import {
  durationText,
  formatExactShare,
  formatMs,
  formatRatio,
  formatSignedMs,
  lastedText,
  ownLabels,
  quantileName,
  wholePercent,
} from '../../contract/format.ts';
import { StageTable } from '../../contract/stage-table.ts';
import { ofWorstSeries } from '../../contract/worst-series.ts';
import type { Series } from '../../series/series-window.ts';
import type { SlowRequest } from '../../sink/anomalies/anomaly-store.ts';
import type { Explanation as Explained, TimelinePoint } from '../../sink/anomalies/explanation.ts';
import { type AffectedSeries, affectedSeries } from '../../views/anomalies/affected-series.ts';
import type { AnomalyAnswer } from '../../views/answers/anomalies.ts';
import { evidenceOf } from '../../views/text/evidence.ts';
import { clock, visible } from '../../views/text/format.ts';
import { baselineText, measureOf, measureOfSeries } from '../../views/text/rate-evidence.ts';
import { colorsOf } from './colors.ts';
import { renderTable, right, type TableCell } from './table.ts';

const bars = '▁▂▃▄▅▆▇█';
const barWidth = 20;
const driversShown = 5;
const eventsShown = 8;

/** Everything known about an anomaly. */
export interface Explanation extends Explained {
  /** Its slowest requests, as its page lists them. */
  readonly slowest: readonly SlowRequest[];
  /** Its tail with answers as long as before it, as its page has it. */
  readonly lengths: AnomalyAnswer['lengths'];
}

type Colored = { readonly color: boolean };

/**
 * Explains an anomaly to an operator on call: the slow stage and since when, the event history, blame and
 * drivers, the evidence, and where to look.
 *
 * @param table says which stages of a request are no parts of it.
 */
export function renderExplanation(
  { events, timeline, drivers, mix, members, slowest, lengths }: Explanation,
  io: Colored,
  nowMs: number,
  table: StageTable = StageTable.standard,
): string {
  const last = events.at(-1) as AnomalyEvent;
  const shown = ofWorstSeries(last);
  const series = affectedSeries(last, members);
  const { bold } = colorsOf(io);
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : ['', bold(title), ...lines.map((line) => `  ${line}`)];
  const history = section('Event history', eventLines(events, io));
  // An event about tailmark itself has no requests of a series to explain.
  if (last.kind === 'pipeline') return [...headline(last, io, nowMs), ...history, ''].join('\n');
  return [
    ...headline(last, io, nowMs),
    ...section(`Timeline of ${measureOf(shown).title}`, timelineLines(timeline, shown, io)),
    ...section(blameTitle(shown), blameLines(shown, io)),
    ...section(series.title, series.count > 1 ? seriesLines(series, io) : []),
    ...section('Drivers of slow requests', driverLines(drivers, io)),
    ...section('Traffic mix', [...mixLines(mix, shown.quantile), ...lengthsLines(lengths)]),
    ...section('Evidence', evidenceLines(last, io)),
    ...section('Slowest requests', slowestLines(slowest, table, io)),
    ...history,
    ...section('SQL query', shown.sql.split('\n').map(visible)),
    '',
  ].join('\n');
}

function headline(event: AnomalyEvent, io: Colored, nowMs: number): string[] {
  const { bold, dim, green, red, yellow } = colorsOf(io);
  const paint = event.state === 'resolved' ? green : event.severity === 'critical' ? red : yellow;
  const state = event.state === 'resolved' ? `resolved (${event.resolution})` : 'open';
  const shown = ofWorstSeries(event);
  const which = event.scope === undefined ? '' : ', the most affected';
  const isOpen = event.state !== 'resolved';
  const effects = effectsText(shown);
  return [
    `${paint(`${state}, ${event.severity}`)}  ${bold(visible(event.summary))}`,
    ...(event.kind === 'pipeline'
      ? []
      : [`  ${dim('series: ')} ${visible(seriesName(shown))}${which}`]),
    `  ${dim('since:  ')} ${spanText(event)}`,
    `  ${dim('noticed:')} ${noticedText(event, nowMs)}`,
    ...(effects === '' ? [] : [`  ${dim('effect: ')} ${visible(effects)}`]),
    ...(event.severity_reason === undefined
      ? []
      : [`  ${dim('rose:   ')} to ${event.severity}: ${visible(event.severity_reason)}`]),
    ...(isOpen ? [`  ${dim('look:   ')} ${visible(lookFirst(shown))}`] : []),
    ...(event.runbook_url === null ? [] : [`  ${dim('runbook:')} ${event.runbook_url}`]),
    ...(event.incident_id === undefined
      ? []
      : [`  ${dim('part of:')} incident ${event.incident_id}`]),
    `  ${dim('id:     ')} ${event.id}`,
  ];
}

/** Its start and, as far as it is known, its end, in event time. */
function spanText({ started_at: from, ended_at: to }: AnomalyEvent): string {
  if (!to) return clock(from);
  return `${clock(from)} to ${clock(to)}, ${lastedText(from, to)}`;
}

/** Times at which tailmark noticed the start and the end, by the clock. */
function noticedText({ detected_at, resolved_at }: AnomalyEvent, nowMs: number): string {
  if (resolved_at !== null) return `${clock(detected_at)}, resolved ${clock(resolved_at)}`;
  return `${clock(detected_at)}, ${durationText(nowMs - Date.parse(detected_at))} ago`;
}

/** Counts first, then the statistics behind them. */
function evidenceLines(event: AnomalyEvent, io: Colored): string[] {
  const { dim } = colorsOf(io);
  const { sentences, statistics } = evidenceOf(event);
  return [
    ...sentences,
    ...statistics.map(({ label, text }) => dim(`${label.toLowerCase()}: ${text}`)),
  ];
}

/** Formats `ranker, v2, search, eu-west-1, cold starts`. */
function seriesName(series: Series): string {
  const { model, version, request_type, region, host, service, tenant, cold_start } = series;
  const values = [version, request_type, region, host, service, tenant, ...ownLabels(series)];
  const named = [model, ...values.filter((value) => value !== '')].join(', ');
  return `${named}${cold_start ? ', cold starts' : ''}`;
}

function seriesLines({ listed, count }: AffectedSeries, io: Colored): string[] {
  const isTail = listed.every(({ rate }) => rate === undefined);
  const rows = listed.map((series): TableCell[] => {
    const { title, format } = measureOfSeries(series);
    const { started_at, ended_at, resolved_at, rate, measured_at } = series;
    return [
      seriesName(series),
      ...(isTail ? [series.stage] : []),
      title,
      format(rate?.observed ?? series.observed_ms),
      format(rate?.baseline ?? series.baseline_ms),
      formatRatio((rate ?? series).ratio),
      measured_at === undefined ? '–' : clock(measured_at),
      clock(started_at),
      resolved_at === null ? 'open' : ended_at ? clock(ended_at) : '–',
      resolved_at === null ? '' : clock(resolved_at),
    ];
  });
  const measured = [...(isTail ? ['blame'] : []), 'measured'];
  const numbers = right('observed', 'baseline', 'ratio');
  const columns = ['series', ...measured, ...numbers, 'as of', 'since', 'until', 'resolved'];
  const left = count - listed.length;
  return [
    ...lines(renderTable({ columns, rows, color: io.color })),
    ...(left > 0 ? [colorsOf(io).dim(`… ${left} more`)] : []),
  ];
}

/** Renders a line of bars, and the values of its lowest and highest. */
function timelineLines(
  timeline: readonly TimelinePoint[],
  event: AnomalyEvent,
  io: Colored,
): string[] {
  const [first, last] = [timeline[0], timeline.at(-1)];
  if (first === undefined || last === undefined) return [];
  const { dim, red } = colorsOf(io);
  const { measure, format } = measureOf(event);
  const values = timeline.map(measure);
  const most = Math.max(...values) || 1;
  const [fromMs, toMs] = [
    Date.parse(event.started_at),
    Date.parse(event.resolved_at ?? '') || Infinity,
  ];
  const line = timeline
    .map(({ at_ms }, i) => {
      const value = values[i] ?? 0;
      const bar = bars[Math.min(bars.length - 1, Math.floor((value / most) * bars.length))] ?? '';
      return at_ms >= fromMs - 59_999 && at_ms < toMs ? red(bar) : bar;
    })
    .join('');
  const range = `${clock(new Date(first.at_ms).toISOString())} to ${clock(new Date(last.at_ms).toISOString())}`;
  const step = durationText(first.step_seconds * 1_000);
  const [low, high] = [Math.min(...values), Math.max(...values)].map(format);
  return [
    line,
    dim(`${range} in steps of ${step}; ${low} to ${high}, baseline ${baselineText(event)}`),
  ];
}

function blameLines(event: AnomalyEvent, io: Colored): string[] {
  const { bold, dim } = colorsOf(io);
  const most = Math.max(...event.blame.map(({ excess_ms }) => Math.abs(excess_ms)));
  const rows = event.blame
    .filter(({ excess_ms }) => Math.abs(excess_ms) >= 0.01 * most)
    .map(({ stage, excess_ms, share }, i): TableCell[] => [
      { text: stageText(stage), style: i === 0 ? bold : (text) => text },
      formatSignedMs(excess_ms),
      wholePercent(share),
      excess_ms < 0 ? '' : '█'.repeat(Math.round((excess_ms / most) * barWidth)),
    ]);
  const columns = ['stage', ...right('mean excess', 'share'), ''];
  if (rows.length === 0) return [];
  return [
    ...lines(renderTable({ columns, rows, color: io.color })),
    dim(`${riseText(event)}; bottleneck: ${event.bottleneck}`),
  ];
}

function driverLines(drivers: Explanation['drivers'], io: Colored): string[] {
  if (drivers.length === 0) return [];
  const { bold } = colorsOf(io);
  const rows = drivers
    .slice(0, driversShown)
    .map((driver): TableCell[] => [
      { text: `${driver.facet} ${driver.value}`, style: bold },
      ...[driver.share_of_slow, driver.share_of_all].map(rounded),
      driver.baseline_share_of_all === undefined ? '–' : rounded(driver.baseline_share_of_all),
      ...[driver.slow_rate, driver.slow_rate_of_others, driver.baseline_slow_rate].map(rounded),
    ]);
  const columns = [
    'value',
    ...right('share of slow', 'share of all', 'baseline share'),
    ...right('slow rate', 'slow rate of others', 'baseline slow rate'),
  ];
  return lines(renderTable({ columns, rows, color: io.color }));
}

function mixLines(mix: Explained['mix'], quantile: number): string[] {
  if (mix === null) return [];
  if ('growth' in mix) {
    return [
      `${quantileName(quantile)} of ${mix.facet} grew ${formatRatio(mix.growth)}: larger requests explain ${rounded(mix.share)} of the rise`,
    ];
  }
  return [
    `the part of all requests that exceeds the baseline percentile grew by ${points(mix.excess)} percentage points (by ${mix.facet}):`,
    `${rounded(mix.share)} of the rise comes from more large requests, ${rounded(1 - mix.share)} from slower requests of the same size`,
  ];
}

function lengthsLines(lengths: Explanation['lengths']): string[] {
  return lengths?.text == null ? [] : [lengths.text];
}

function blameTitle(event: AnomalyEvent): string {
  const { kind, quantile, evidence } = event;
  const split = splitOf(event);
  const measured = evidence.measured_stage;
  if (split === 'quantile') return `Rise of ${quantileName(quantile)} of ${measured}`;
  if (split === 'milestone') {
    return `Mean excess of all requests over the baseline, by part before ${measured}`;
  }
  if (kind === 'drift') return 'Mean excess of a request over the week before, by stage';
  return `Mean excess of the slowest ${formatExactShare(1 - quantile)} over the baseline, by stage`;
}

function slowestLines(slowest: readonly SlowRequest[], table: StageTable, io: Colored): string[] {
  if (slowest.length === 0) return [];
  const rows = slowest.map((request): TableCell[] => {
    const parts = Object.entries(request.stages_ms).filter(
      ([name]) => table.kindOf(name) === 'part',
    );
    const [stage, ms] = parts.sort(([, a], [, b]) => b - a)[0] ?? ['–', Number.NaN];
    return [
      clock(new Date(request.event_ms).toISOString()),
      formatMs(request.total_ms),
      `${stage} ${formatMs(ms)}`,
      request.host,
      request.status,
      request.trace_id === '' ? request.request_id : request.trace_id,
    ];
  });
  const columns = ['at', ...right('total'), 'most of it', 'host', 'status', 'trace'];
  return lines(renderTable({ columns, rows, color: io.color }));
}

function eventLines(events: readonly AnomalyEvent[], io: Colored): string[] {
  const { dim } = colorsOf(io);
  const left = Math.max(0, events.length - eventsShown);
  // The first event shows the start, the last ones the current state.
  const shown = left === 0 ? events : [events[0] as AnomalyEvent, ...events.slice(left + 1)];
  return shown.flatMap((event, i) => [
    `${clock(event.emitted_at)} ${event.state}, ${event.severity}: ${visible(event.summary)}`,
    ...(left > 0 && i === 0 ? [dim(`… ${left} more updates`)] : []),
  ]);
}

function lines(table: string): string[] {
  return table.trimEnd().split('\n');
}

/** Formats a difference of shares: `7`, `0.4`. */
function points(difference: number): string {
  return rounded(difference).replace(' %', '');
}

/** Formats `71 %`, `0.4 %`. */
function rounded(share: number): string {
  return share >= 0.095 || share === 0
    ? `${Math.round(share * 100)} %`
    : `${(share * 100).toFixed(1)} %`;
}
