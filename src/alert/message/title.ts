import type { AnomalyEvent, Severity } from '../../contract/anomaly-event.ts';
import { lastedText } from '../../contract/format.ts';
import { ofEndedSeries, ofWorstSeries } from '../../contract/worst-series.ts';
import type { Notice } from '../receiver.ts';
import { cleanText, cutText } from './clean-text.ts';
import { kindWords } from './kind-words.ts';
import { clockText, spanText } from './times.ts';

/** Characters of a lock screen: what is worth waking up for stands within them. */
const lockScreenChars = 80;
const maxTitleChars = 150;
/** Characters of a model's name that stay, however long the rest is. */
const minNameChars = 20;
/** Characters of a region, a type of request or a version. */
const maxPlaceChars = 20;
/** Values of a dimension that an event lists at most. */
const listedValues = 5;
/** Dimensions that tell series of a model apart, the one that most often does first. */
const tellingDimensions = ['region', 'request_type', 'version'] as const;

/**
 * Titles a notice: "CRITICAL ranker (eu-west-1) p99 512 ms, 2.1x its baseline, blame queue; since 10:17, as
 * of 10:29 UTC". The first 80 characters suffice; a long name of a model is cut before anything else. At most
 * 150 characters. Of an incident it has the numbers of its most affected series and says so.
 *
 * @param event the notice's event, its names clean.
 */
export function titleOf(event: AnomalyEvent, notice: Notice): string {
  const isEnd = notice.change === 'resolved';
  if (!isEnd)
    return titleOfSeries(ofWorstSeries(event), notice, seriesText(event, 'most affected'));
  // Only a new baseline is a number of one series.
  const which = event.resolution === 'rebaselined' ? 'last series' : 'none';
  return titleOfSeries(ofEndedSeries(event), notice, seriesText(event, which));
}

function titleOfSeries(event: AnomalyEvent, notice: Notice, series: string): string {
  const test = notice.isTest ? 'TEST ' : '';
  const start = `${test}${statusText(event, notice)} `;
  const end = `${series} ${changeText(event, notice)}`;
  const room = lockScreenChars - start.length - end.length;
  const name = cutText(subjectOf(event), Math.max(minNameChars, room));
  return cleanText(`${start}${name}${end}${scopeText(event)}`, maxTitleChars);
}

/**
 * Title of an anomaly without its status and its times, for a page that shows these separately: "ranker p99
 * 512 ms, 2.1x its baseline, blame queue; 12 of 24 series".
 *
 * @param event before its end; its names clean.
 */
export function headlineOf(event: AnomalyEvent): string {
  const shown = ofWorstSeries(event);
  const start = `${subjectOf(shown)}${seriesText(event, 'most affected')}`;
  return cleanText(
    `${start} ${kindWords[shown.kind].headline(shown)}${scopeText(shown)}`,
    maxTitleChars,
  );
}

/**
 * The text between the model's name and the numbers: " (eu-west-1)"; " +2 models"; ", most affected:" for numbers
 * of one of several series; "cold starts" for numbers of cold starts only.
 */
function seriesText(event: AnomalyEvent, which: 'most affected' | 'last series' | 'none'): string {
  const of = which === 'last series' ? ofEndedSeries(event) : ofWorstSeries(event);
  const cold = of.cold_start ? ['cold starts'] : [];
  const place = placeOf(event);
  if (event.scope === undefined) return inBrackets([...place, ...cold]);
  const models = `${otherModels(event)}${inBrackets(place)}`;
  return which === 'none' ? models : `${models}, ${which}${inBrackets(cold)}:`;
}

/**
 * The region, as other series of the model may have an anomaly too; without regions the type of request, or the
 * version. Of an incident only a region that all its series have and others do not.
 */
function placeOf({ scope, ...event }: AnomalyEvent): string[] {
  const value =
    scope === undefined
      ? tellingDimensions.map((dimension) => event[dimension]).find((text) => text !== '')
      : scope.common.find(({ dimension }) => dimension === 'region')?.value;
  return value ? [cutText(value, maxPlaceChars)] : [];
}

function inBrackets(texts: readonly string[]): string {
  return texts.length === 0 ? '' : ` (${texts.join(', ')})`;
}

/** Severity that an episode had before its last rise, for this receiver; undefined before any. */
export function severityBefore({ change, severities }: Notice): Severity | undefined {
  return change === 'risen' ? severities.at(-2) : undefined;
}

function statusText({ severity }: AnomalyEvent, notice: Notice): string {
  if (notice.change === 'resolved') return 'RESOLVED';
  if (notice.change === 'past') return 'ENDED';
  if (notice.as !== undefined && notice.as !== severity) {
    return `${notice.as.toUpperCase()} (now ${severity})`;
  }
  const before = severityBefore(notice);
  const was = before === undefined ? '' : ` (was ${before})`;
  return `${severity.toUpperCase()}${was}`;
}

/** Its measurements or its end, and the time. */
function changeText(event: AnomalyEvent, { change }: Notice): string {
  const words = kindWords[event.kind];
  const { started_at: from, emitted_at: now } = event;
  if (change === 'opened' || change === 'risen' || change === 'updated') {
    return `${words.headline(event)}; ${sinceText(from, event.measured_at, now)}`;
  }
  const when = whenText(event);
  const what = change === 'past' ? words.headline(event) : endText(event);
  return `${what}; ${when}`;
}

/** "since 10:17, as of 10:29 UTC": its start, and the time that its numbers are of. */
function sinceText(from: string, measuredAt: string | undefined, now: string): string {
  const since = `since ${clockText(from, now)}`;
  if (measuredAt === undefined) return since;
  return `${since.replace(' UTC', '')}, as of ${clockText(measuredAt, now)}`;
}

/**
 * "10:17 to 10:27 UTC (10 min)", in event time. Without a known end it says when that was noticed, which is by
 * the clock: "since 10:17, resolved 10:29 UTC".
 */
function whenText(event: AnomalyEvent): string {
  const { started_at: from, ended_at: to } = event;
  if (to) return `${spanText(from, to)} (${lastedText(from, to)})`;
  const resolved = resolvedAt(event);
  return `since ${clockText(from, resolved).replace(' UTC', '')}, resolved ${clockText(resolved, from)}`;
}

/** The words for its end, by its resolution. */
export function endText(event: AnomalyEvent): string {
  const words = kindWords[event.kind];
  if (event.resolution === 'no_traffic') return 'too few requests left to evaluate';
  if (event.resolution === 'rebaselined') return words.rebaselined(event);
  return words.recovered(event);
}

/** Time at which the end was noticed, by the clock; of an open anomaly the time of the event. */
export function resolvedAt({ resolved_at, emitted_at }: AnomalyEvent): string {
  return resolved_at ?? emitted_at;
}

/** "; 12 of 24 series", where one cause affects several. */
function scopeText({ scope }: AnomalyEvent): string {
  return scope === undefined ? '' : `; ${scope.affected} of ${scope.total} series`;
}

/** "ranker", "all models"; of tailmark itself "tailmark". */
export function subjectOf({ kind, model }: Pick<AnomalyEvent, 'kind' | 'model'>): string {
  if (kind === 'pipeline') return 'tailmark';
  return model === '' ? 'all models' : model;
}

/** " +2 models" of an incident over three. */
function otherModels({ scope }: AnomalyEvent): string {
  const models = scope?.values.filter(({ dimension }) => dimension === 'model').length ?? 0;
  if (models < 2) return '';
  const orMore = models === listedValues ? ' or more' : '';
  return ` +${models - 1}${orMore} ${models === 2 ? 'model' : 'models'}`;
}
