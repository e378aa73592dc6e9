import { anomalyMessage } from '../../../../src/alert/message/anomaly-message.ts';
import type { Notice } from '../../../../src/alert/receiver.ts';
import { emailMessage } from '../../../../src/alert/receivers/payloads/email-message.ts';
import { openRoutes } from '../../../../src/alert/routing/open-routes.ts';
import { configSchema } from '../../../../src/config/schema.ts';
import type { AnomalyEvent } from '../../../../src/contract/anomaly-event.ts';

export const receivers = [
  { type: 'alertmanager', name: 'alertmanager', urls: ['http://alertmanager.example:9093'] },
  { type: 'pagerduty', name: 'pagerduty', routing_key: '0'.repeat(32) },
  { type: 'slack', name: 'slack', token: 'xoxb-0000', channel: '#ml-latency' },
  {
    ...{ type: 'email', name: 'mail', server: 'smtp.example.com:587' },
    ...{ from: 'tailmark@example.com', to: ['ml-oncall@example.com'] },
  },
  { type: 'webhook', name: 'webhook', format: 'alertmanager', url: 'https://hooks.example.com/in' },
];

export const noticeOf = (event: AnomalyEvent, changed: Partial<Notice> = {}): Notice => {
  const { state: change, severity } = event;
  return { event, change, severities: [severity], memory: '', isTest: false, ...changed };
};

/** What each receiver would be sent of a notice, and the HTML part of a mail. */
export function bodiesByReceiver(base: string, notice: Notice): ReadonlyMap<string, string> {
  const { alert } = configSchema.parse({ alert: { dashboard_url: base, receivers } });
  const rendered = openRoutes(alert, undefined, {}).map(({ receiver }) => {
    const bodies = (['full', 'minimal'] as const).flatMap((form) => receiver.preview(notice, form));
    return [receiver.name, bodies.map(({ body }) => body).join('\n')] as const;
  });
  const message = anomalyMessage(notice, 'full', alert);
  const { html } = emailMessage({ notice, message, from: 'tailmark@example.com' });
  // A mail program reads attributes before it follows them.
  return new Map([...rendered, ['mail as HTML', html.replaceAll('&amp;', '&')]]);
}

/** Addresses of a dashboard in what each receiver would be sent, and in both parts of a mail. */
export function linksByReceiver(
  base: string,
  notice: Notice,
): ReadonlyMap<string, readonly string[]> {
  const pattern = new RegExp(`${base}[^\\s"'<>|\\\\]*`, 'g');
  return new Map(
    [...bodiesByReceiver(base, notice)].map(([name, body]) => [
      name,
      [...new Set(body.match(pattern)?.map((link) => new URL(link).href))].toSorted(),
    ]),
  );
}
