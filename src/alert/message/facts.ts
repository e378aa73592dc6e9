import { dimensions } from '../../base/dimensions.ts';
import type { AnomalyEvent, Scope, ScopeMember } from '../../contract/anomaly-event.ts';
import { asOfText } from '../../contract/as-of.ts';
import {
  dimensionWords,
  formatMsOf,
  formatShare,
  lastedText,
  ownLabels,
  quantileName,
  seriesLabel,
} from '../../contract/format.ts';
import { hasBeenWorse, peakText, sizeText } from '../../contract/peak-text.ts';
import { historyText } from '../../contract/short-history.ts';
import { ofEndedSeries, ofWorstSeries } from '../../contract/worst-series.ts';
import { seriesKey } from '../../series/series-key.ts';
import type { Notice } from '../receiver.ts';
import { causeFacts } from './cause-facts.ts';
import type { Fact } from './fact.ts';
import { kindWords } from './kind-words.ts';
import { longSpanText, timeText } from './times.ts';
import { endText, resolvedAt, severityBefore, subjectOf } from './title.ts';

/** Affected series that a message lists. */
const membersShown = 3;

/**
 * Lists what is known of an anomaly, the most important first.
 *
 * @param event the notice's event, its names clean.
 */
export function factsOf(event: AnomalyEvent, notice: Notice): readonly Fact[] {
  const { change } = notice;
  const shown = ofWorstSeries(event);
  const [what, ...more] = measuredFacts(shown, notice);
  const times = timeFacts(event, notice);
  const severity = severityFact(event, notice);
  const first = isOpen(change) ? [...severity, what, ...times] : [...times, what, ...severity];
  return [
    ...testFact(notice),
    ...first,
    ...more,
    ...extentFacts(event),
    ...causeFacts(shown, { isSolved: change === 'resolved' }),
  ];
}

function isOpen(change: Notice['change']): boolean {
  return change !== 'resolved' && change !== 'past';
}

/** Summary and times alone: for a receiver that refused the rest. */
export function minimalFacts(event: AnomalyEvent, notice: Notice): readonly Fact[] {
  const summary = { label: 'Summary', text: event.summary };
  return [...testFact(notice), ...timeFacts(event, notice), summary];
}

function testFact({ isTest }: Notice): Fact[] {
  if (!isTest) return [];
  return [{ label: 'Test', text: 'sent by `tailmark alert test`; nothing is wrong' }];
}

/**
 * Its start and its end. Event times and times at which tailmark noticed have separate lines: they are far
 * apart for traffic that is read late.
 */
function timeFacts(event: AnomalyEvent, { change }: Notice): Fact[] {
  const { started_at: from, ended_at: to } = event;
  if (isOpen(change)) {
    const fell = to ? [{ label: 'Fell', text: timeText(to) }] : [];
    return [{ label: 'Since', text: timeText(from) }, ...fell];
  }
  const late = { label: 'Late', text: 'it was over before this could be delivered' };
  const span = to
    ? { label: 'Lasted', text: `${longSpanText(from, to)}, ${lastedText(from, to)}` }
    : { label: 'Since', text: timeText(from) };
  return [
    ...(change === 'past' ? [late] : []),
    span,
    { label: 'Resolved', text: timeText(resolvedAt(event)) },
    {
      label: 'End',
      text: endText(change === 'past' ? ofWorstSeries(event) : ofEndedSeries(event)),
    },
  ];
}

function severityFact(event: AnomalyEvent, notice: Notice): Fact[] {
  const before = severityBefore(notice);
  if (before !== undefined) {
    return [
      { label: 'Severity', text: `rose from ${before} to ${event.severity}${becauseOf(event)}` },
    ];
  }
  const reason = becauseOf(event);
  if (reason !== '' && isOpen(notice.change)) {
    return [{ label: 'Severity', text: `rose to ${event.severity}${reason}` }];
  }
  return isOpen(notice.change) ? [] : [{ label: 'Severity', text: `was ${event.severity}` }];
}

/** ": 12 % of all requests affected, …": why the severity rose, where the event says it. */
function becauseOf({ severity_reason: reason }: AnomalyEvent): string {
  return reason === undefined ? '' : `: ${reason}`;
}

/**
 * The measurements and the detector's sentence. At the end the sentence is first: it alone has the present
 * value.
 */
function measuredFacts(event: AnomalyEvent, { change }: Notice): [Fact, ...Fact[]] {
  const { measured, summaryAdds } = kindWords[event.kind];
  const text = measured(event);
  const dated = event.measured_at === undefined ? text : `${text}; ${asOfText(event.measured_at)}`;
  const more = [...latencyFact(event), ...peakFact(event, isOpen(change))];
  const { summary } = event;
  if (event.scope !== undefined) {
    const shown = { label: 'Most affected', text: `${seriesLabel(event)}: ${dated}` };
    return [{ label: isOpen(change) ? 'What' : 'Now', text: summary }, shown, ...more];
  }
  if (!isOpen(change)) {
    const was = text === summary ? [] : [{ label: 'Was', text: dated }];
    return [{ label: 'Now', text: summary }, ...was, ...more];
  }
  const adds = text !== summary && summaryAdds;
  const sentence = adds ? [{ label: 'Summary', text: summary }] : historyFact(event);
  return [{ label: 'What', text: dated }, ...sentence, ...more];
}

/** How bad it has been, where it is better now; of what is over always. */
function peakFact(event: AnomalyEvent, isStillOpen: boolean): Fact[] {
  const { peak } = event;
  if (peak === undefined || (isStillOpen && !hasBeenWorse(event))) return [];
  return [{ label: 'Peak', text: `${peakText(event)} at ${timeText(peak.at)}` }];
}

/** Since when the history is known, where it is short: the detector's sentence ends by it, too. */
function historyFact({ evidence }: AnomalyEvent): Fact[] {
  const text = historyText(evidence);
  return text === undefined ? [] : [{ label: 'History', text }];
}

/** The durations of requests, for an anomaly of their rate. */
function latencyFact({ rate, quantile, observed_ms, baseline_ms }: AnomalyEvent): Fact[] {
  if (rate === undefined || observed_ms <= 0) return [];
  const format = formatMsOf(observed_ms, baseline_ms);
  const text = `${quantileName(quantile)} ${format(observed_ms)}, baseline ${format(baseline_ms)}`;
  return [{ label: 'Latency', text }];
}

/** Which series, and how much of the traffic. */
function extentFacts(event: AnomalyEvent): Fact[] {
  const { scope, members = [], affected_share: share } = event;
  const series = seriesText(event);
  const parts = [
    ...(scope === undefined ? [] : [scopeText(scope)]),
    ...(share === undefined ? [] : [`${formatShare(Math.max(0, share))} of all requests`]),
  ];
  // The most affected has its own line.
  const asOf = ofWorstSeries(event).measured_at;
  const others = members.slice(1, membersShown).map((member) => memberText(member, asOf));
  const more = (scope?.affected ?? 0) - 1 - others.length;
  const rest = more > 0 ? `; ${more} more` : '';
  const label = scope === undefined ? 'Series' : 'First series';
  // It is named with its measurement.
  const [worst] = members;
  const isNamed = worst !== undefined && seriesKey(worst) === seriesKey(event);
  return [
    ...(series === '' || isNamed ? [] : [{ label, text: series }]),
    ...(parts.length === 0 ? [] : [{ label: 'How far', text: parts.join('; ') }]),
    ...(others.length === 0
      ? []
      : [{ label: 'Other series', text: `${others.join('; ')}${rest}` }]),
  ];
}

/** "ranker; version v2, request type search"; '' for tailmark itself. */
function seriesText(event: AnomalyEvent): string {
  if (event.kind === 'pipeline') return '';
  const values = dimensions.flatMap((dimension) => {
    const value = event[dimension];
    if (dimension === 'model' || value === '' || value === false) return [];
    return [value === true ? 'cold starts' : `${dimension.replace('_', ' ')} ${value}`];
  });
  values.push(...ownLabels(event));
  const model = subjectOf(event);
  return values.length === 0 ? model : `${model}; ${values.join(', ')}`;
}

/** "12 of 24 series, 3 recovered; all have version v2". */
function scopeText({ affected, unresolved, total, common }: Scope): string {
  const back = affected - unresolved;
  const recovered = back <= 0 ? '' : `, ${unresolved === 0 ? 'all' : back} recovered`;
  const shared = common.map(({ dimension, value }) => {
    if (dimension === 'cold_start') return value === 'true' ? 'cold starts' : 'no cold starts';
    const name = dimensionWords(dimension);
    return value === '' ? `no ${name}` : `${name} ${value}`;
  });
  const all = shared.length === 0 ? '' : `; all have ${shared.join(', ')}`;
  return `${affected} of ${total} series${recovered}${all}`;
}

/**
 * "ranker (v2, search) 512 ms, 2.1x", of one that has recovered "was 512 ms, 2.1x, recovered".
 *
 * @param asOf time of the message's other numbers.
 */
function memberText(member: ScopeMember, asOf: string | undefined): string {
  const { measured_at, resolved_at } = member;
  const label = seriesLabel(member);
  if (resolved_at !== null) return `${label} was ${sizeText(member)}, recovered`;
  const isOther = measured_at !== undefined && measured_at !== asOf;
  return `${label} ${sizeText(member)}${isOther ? ` ${asOfText(measured_at)}` : ''}`;
}
