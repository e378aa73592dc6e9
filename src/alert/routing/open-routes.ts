import { readFileSync } from 'node:fs';
import { systemClock } from '../../base/clock.ts';
import { hostRefusal } from '../../base/network/address-guard.ts';
import type { ReceiverConfig } from '../../config/alert.ts';
import type { Config } from '../../config/schema.ts';
import type { Publisher } from '../../kafka/client/publisher.ts';
import { UndiciSender, verifyPem } from '../http/undici-sender.ts';
import type { Receiver } from '../receiver.ts';
import { alertmanagerReceivers } from '../receivers/alertmanager-receiver.ts';
import type { ReceiverClock } from '../receivers/attempt.ts';
import { EmailReceiver } from '../receivers/email-receiver.ts';
import { PagerDutyReceiver } from '../receivers/pagerduty-receiver.ts';
import { slackReceiver } from '../receivers/slack-receiver.ts';
import { TopicReceiver } from '../receivers/topic-receiver.ts';
import { WebhookReceiver } from '../receivers/webhook-receiver.ts';
import { unmetCondition } from './matches.ts';
import type { Route } from './route.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Longest wait for Kafka in one attempt. */
const topicTimeoutMs = 10_000;

/**
 * Opens all configured receivers: the topic where there is a publisher, `alert.webhooks`, `alert.receivers`. Of
 * an Alertmanager cluster each address is a separate route.
 *
 * @param env read for HTTP_PROXY, HTTPS_PROXY and NO_PROXY.
 */
export function openRoutes(
  config: Config['alert'],
  publisher: Publisher | undefined,
  env: Environment,
  clock: ReceiverClock = systemClock,
): Route[] {
  const routes: Route[] = [];
  if (publisher !== undefined) {
    const { topic } = config;
    const options = { topic, publisher, clock, timeoutMs: topicTimeoutMs };
    const receiver = new TopicReceiver(options);
    routes.push({ receiver, name: receiver.name, unmet: () => undefined, ignoresMutes: true });
  }
  for (const settings of [...namedWebhooks(config), ...config.receivers]) {
    for (const receiver of openReceivers(settings, config, env, clock)) {
      const unmet: Route['unmet'] = (event) => unmetCondition(settings.match, event);
      const { name } = settings;
      const sendChange = changesOf(receiver, settings);
      routes.push({ receiver, name, unmet, ignoresMutes: false, sendChange });
    }
  }
  return routes;
}

/** `alert.webhooks` as receivers, named by their host: `webhook example.com`, `webhook example.com 2`. */
function namedWebhooks({ webhooks }: Config['alert']): ReceiverConfig[] {
  const seen = new Map<string, number>();
  return webhooks.map((webhook) => {
    const { host } = new URL(webhook.url);
    const count = (seen.get(host) ?? 0) + 1;
    seen.set(host, count);
    return {
      type: 'webhook',
      name: `webhook ${host}${count === 1 ? '' : ` ${count}`}`,
      match: { severity: 'info' },
      format: 'cloudevents',
      ...webhook,
    };
  });
}

function changesOf(receiver: Receiver, settings: ReceiverConfig): Route['sendChange'] {
  const isWanted = settings.type === 'pagerduty' && settings.change_events;
  if (!isWanted || !(receiver instanceof PagerDutyReceiver)) return undefined;
  return (version) => receiver.sendChange(version);
}

function openReceivers(
  config: ReceiverConfig,
  links: Config['alert'],
  env: Environment,
  clock: ReceiverClock,
): Receiver[] {
  const ca = config.ca_file === undefined ? undefined : readFileSync(config.ca_file, 'utf8');
  if (ca !== undefined) verifyPem(ca, `receiver ${config.name}`);
  const openHttp = () =>
    new UndiciSender({ timeoutMs: config.timeout, ca, env, nowMs: clock.nowMs });
  switch (config.type) {
    case 'alertmanager':
      return alertmanagerReceivers({ config, links, clock }, openHttp);
    case 'pagerduty':
      return [new PagerDutyReceiver({ config, links, clock, http: openHttp() })];
    case 'slack':
      return [slackReceiver({ config, links, clock, http: openHttp() })];
    case 'email':
      return [new EmailReceiver({ config, links, clock, ca, refusal: hostRefusal })];
    case 'webhook':
      return [new WebhookReceiver({ config, links, clock, http: openHttp() })];
  }
}
