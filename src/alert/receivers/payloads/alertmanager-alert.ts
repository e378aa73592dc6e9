import { attributeLabel, dimensions } from '../../../base/dimensions.ts';
import type { AnomalyEvent, Severity } from '../../../contract/anomaly-event.ts';
import { seriesLabel } from '../../../contract/format.ts';
import { dimensionValue, ownDimensionsOf } from '../../../series/series-key.ts';
import type { Message } from '../../message/anomaly-message.ts';
import { cleanText, cutBytes } from '../../message/clean-text.ts';
import { messageBody } from '../../message/message-text.ts';
import { resolvedAt } from '../../message/title.ts';
import type { Form } from '../../receiver.ts';

/** Texts by name; Alertmanager accepts no other values. */
export type LabelSet = Readonly<Record<string, string>>;

/** An alert as `POST /api/v2/alerts` accepts it. */
export interface PostableAlert {
  readonly labels: LabelSet;
  readonly annotations: LabelSet;
  readonly startsAt: string;
  readonly endsAt: string;
  readonly generatorURL?: string;
}

const maxLabelBytes = 1024;
const prefix = 'Tailmark';

/** "TailmarkTailShift". */
function alertName(kind: AnomalyEvent['kind']): string {
  const words = kind.split('_').map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
  return `${prefix}${words.join('')}`;
}

/**
 * Labels of an anomaly. They are the alert's identity, so only what stays the same while it is open is
 * one: a changed label is another alert, and the first would time out as a false "resolved". Dimensions are
 * those of the first series, which `dedup_key` is of; the most affected one may change and is an annotation.
 */
export function alertLabels(event: AnomalyEvent, severity: Severity): LabelSet {
  const labels: Record<string, string> = {
    alertname: alertName(event.kind),
    severity,
    kind: event.kind,
    dedup_key: labelValue(event.dedup_key),
  };
  for (const dimension of dimensions) {
    const value = labelValue(String(event[dimension]));
    if (value !== '' && event[dimension] !== false) labels[dimension] = value;
  }
  for (const name of ownDimensionsOf([event])) {
    labels[attributeLabel(name)] = labelValue(dimensionValue(event, name));
  }
  return labels;
}

function labelValue(text: string): string {
  return cutBytes(cleanText(text, maxLabelBytes), maxLabelBytes);
}

/** Everything about an anomaly that may change while it is open, and texts. Empty values are left out. */
export function alertAnnotations(message: Message, form: Form): LabelSet {
  const { event, title } = message;
  const texts = {
    summary: title,
    description: messageBody({ ...message, links: [], sql: '' }),
    anomaly_id: event.id,
    ...Object.fromEntries(message.links.map(({ label, url }) => [`${label}_url`, url])),
  };
  return form === 'minimal' ? texts : withoutEmpty({ ...texts, ...measurements(message) });
}

function measurements({ event, shown, sql }: Message): LabelSet {
  const { affected_share, scope } = event;
  const { rate } = shown;
  return {
    revision: String(event.revision),
    group_key: cleanText(event.group_key, maxLabelBytes),
    stage: shown.stage,
    bottleneck: shown.bottleneck,
    quantile: String(shown.quantile),
    observed_ms: String(shown.observed_ms),
    baseline_ms: String(shown.baseline_ms),
    ratio: String(shown.ratio),
    requests: String(shown.requests),
    rate_unit: rate?.unit ?? '',
    rate_observed: textOf(rate?.observed),
    rate_baseline: textOf(rate?.baseline),
    rate_ratio: textOf(rate?.ratio),
    affected_share: textOf(affected_share),
    worst_series: scope === undefined ? '' : cleanText(seriesLabel(shown), maxLabelBytes),
    series_affected: textOf(scope?.affected),
    series_total: textOf(scope?.total),
    sql,
  };
}

function textOf(value: number | undefined): string {
  return value === undefined ? '' : String(value);
}

function withoutEmpty(all: LabelSet): LabelSet {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
}

/** Time from now to the end of an open alert, which is sent again every minute. */
const openForMs = 240_000;
/** Minimum age of the end of a resolved alert: Alertmanager must see it as past. */
const endedForMs = 1_000;

/** Clock of an Alertmanager, as far as it is known. */
export interface ServerTime {
  readonly nowMs: number;
  /** Time by which it is ahead of our clock. */
  readonly offsetMs: number;
}

/**
 * Start and end of an alert. Alertmanager compares the end with its own clock, and refuses a start after
 * the end.
 */
export function alertTimes(
  event: AnomalyEvent,
  isOver: boolean,
  { nowMs, offsetMs }: ServerTime,
): Pick<PostableAlert, 'startsAt' | 'endsAt'> {
  const endedMs = Date.parse(resolvedAt(event)) + offsetMs;
  const endsMs = isOver ? Math.min(endedMs, nowMs - endedForMs) : nowMs + openForMs;
  const startsMs = Math.min(Date.parse(event.started_at), endsMs);
  return { startsAt: new Date(startsMs).toISOString(), endsAt: new Date(endsMs).toISOString() };
}

export interface WatchdogInput {
  /** Labels that tell several tailmarks apart. */
  readonly labels: LabelSet;
  readonly startedMs: number;
  readonly server: ServerTime;
}

/**
 * An alert that always fires. When it ends, tailmark or the way to Alertmanager is down: route it to a
 * dead man's switch.
 */
export function watchdogAlert({ labels, startedMs, server }: WatchdogInput): PostableAlert {
  const { nowMs } = server;
  return {
    labels: { ...labels, alertname: `${prefix}Watchdog`, severity: 'none', kind: 'watchdog' },
    annotations: {
      summary: 'tailmark is alive and reaches this Alertmanager',
      description: 'This alert always fires. Its end means that no anomaly can be delivered.',
    },
    startsAt: new Date(Math.min(startedMs, nowMs)).toISOString(),
    endsAt: new Date(nowMs + openForMs).toISOString(),
  };
}
