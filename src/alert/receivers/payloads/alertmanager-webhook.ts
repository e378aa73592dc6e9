import { createHash } from 'node:crypto';
import { anomalyMessage, dashboardUrlOf, isOver } from '../../message/anomaly-message.ts';
import type { LinkSettings } from '../../message/links.ts';
import { resolvedAt } from '../../message/title.ts';
import type { Form, Notice } from '../../receiver.ts';
import { alertAnnotations, alertLabels } from './alertmanager-alert.ts';

/** The end of an open alert, as Alertmanager writes it. */
const noEnd = '0001-01-01T00:00:00Z';

export interface AlertmanagerWebhookInput {
  readonly notice: Notice;
  readonly form: Form;
  readonly links: LinkSettings;
  /** Name of the receiver. */
  readonly receiver: string;
}

/**
 * The body that Alertmanager posts to webhooks, version 4: one group of one alert. Its fingerprint and
 * group key are of the series and kind, not of the severity: a rise changes the alert instead of opening
 * another one.
 */
export function alertmanagerWebhook({ notice, form, links, receiver }: AlertmanagerWebhookInput) {
  const { event } = notice;
  const status = isOver(notice) ? ('resolved' as const) : ('firing' as const);
  const message = anomalyMessage(notice, form, links);
  const labels = alertLabels(event, event.severity);
  const annotations = alertAnnotations(message, form);
  const { alertname = '', dedup_key = '' } = labels;
  const groupLabels = { alertname, dedup_key };
  return {
    version: '4' as const,
    groupKey: `{}:{alertname=${JSON.stringify(alertname)}, dedup_key=${JSON.stringify(dedup_key)}}`,
    truncatedAlerts: 0,
    status,
    receiver,
    groupLabels,
    commonLabels: labels,
    commonAnnotations: annotations,
    externalURL: links.dashboard_url ?? '',
    alerts: [
      {
        status,
        labels,
        annotations,
        startsAt: event.started_at,
        endsAt: status === 'resolved' ? resolvedAt(event) : noEnd,
        generatorURL: dashboardUrlOf(message) ?? '',
        fingerprint: createHash('sha256').update(event.dedup_key).digest('hex').slice(0, 16),
      },
    ],
  };
}
