import type { Preview, Receiver } from '../../src/alert/receiver.ts';
import { incidentNotices } from '../../src/alert/routing/incident-notices.ts';
import { openRoutes } from '../../src/alert/routing/open-routes.ts';
import { systemClock } from '../../src/base/clock.ts';
import { configSchema } from '../../src/config/schema.ts';
import type { AnomalyEvent } from '../../src/contract/anomaly-event.ts';

/** Receivers of the page, as they would be configured; secrets are replaced. */
const receivers = [
  { type: 'alertmanager', name: 'alertmanager', urls: ['http://alertmanager.example:9093'] },
  { type: 'pagerduty', name: 'pagerduty', routing_key: '0'.repeat(32) },
  { type: 'slack', name: 'slack', token: 'xoxb-0000', channel: '#ml-latency' },
  {
    ...{ type: 'email', name: 'email', server: 'smtp.example.com:587' },
    ...{ from: 'tailmark@example.com', to: ['ml-oncall@example.com'] },
  },
  { type: 'webhook', name: 'webhook', format: 'alertmanager', url: 'https://hooks.example.com/in' },
];
const links = {
  dashboard_url: 'https://tailmark.example.com',
  trace_url: 'https://traces.example.com/trace/{trace_id}',
  runbook_url: 'https://runbooks.example.com/tailmark',
};
const titles: Readonly<Record<string, string>> = {
  alertmanager: 'Alertmanager',
  pagerduty: 'PagerDuty',
  slack: 'Slack, with a bot token',
  email: 'Mail',
  webhook: 'Webhook, `format: alertmanager`',
};
const news: Readonly<Record<string, string>> = {
  opened: 'The opening',
  risen: 'The severity rises',
  resolved: 'The end',
};

/**
 * Renders docs/reference/alert-messages.md: what each receiver gets of the demo's incident.
 *
 * @param events of the incident, in order; test/fixtures/demo-incident.json.
 */
export function renderAlertMessages(events: readonly AnomalyEvent[]): string {
  const last = events.at(-1);
  const nowMs = Date.parse(last?.emitted_at ?? '');
  const alert = configSchema.parse({ alert: { ...links, receivers } }).alert;
  const routes = openRoutes(alert, undefined, {}, { ...systemClock, nowMs: () => nowMs });
  const linked = events.map((event) => ({ ...event, runbook_url: links.runbook_url }));
  const sections = routes.map(({ receiver }) => sectionOf(receiver, linked));
  return `${[intro, ...sections].join('\n\n')}\n`;
}

const intro = `<!-- Made from the demo's incident by \`npm run generate:docs\`. -->

# Messages of each receiver

What each receiver gets of the incident of \`npm run demo\`: the features stage of one region turns slow, more series
join, and it recovers. \`tailmark alert preview\` shows the same of your own anomalies.
[alerts.md](../how-to/alerts.md) says how to configure receivers.`;

function sectionOf(receiver: Receiver, events: readonly AnomalyEvent[]): string {
  const parts = incidentNotices(events, receiver).flatMap((notice) => {
    const previews = receiver.preview(notice, 'full');
    return [`**${news[notice.change] ?? notice.change}.**`, ...previews.map(blockOf)];
  });
  return [`## ${titles[receiver.name] ?? receiver.name}`, ...parts].join('\n\n');
}

function blockOf({ target, body }: Preview): string {
  const fence = '```';
  try {
    const json = JSON.stringify(JSON.parse(body), null, 2);
    return `\`${target}\`\n\n${fence}json\n${json}\n${fence}`;
  } catch {
    return `\`${target}\`\n\n${fence}text\n${body}\n${fence}`;
  }
}
