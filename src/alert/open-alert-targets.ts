import { systemClock } from '../base/clock.ts';
import type { Config } from '../config/schema.ts';
import type { Publisher } from '../kafka/client/publisher.ts';
import type { AlertTarget } from './alert-target.ts';
import { kafkaTarget } from './kafka-target.ts';
import { WebhookTarget } from './webhook-target.ts';

/** Opens the configured targets; the topic only where there is a publisher. */
export function openAlertTargets(
  config: Config['alert'],
  publisher: Publisher | undefined,
): AlertTarget[] {
  const webhooks = config.webhooks.map(
    ({ url, timeout, secret }) =>
      new WebhookTarget({ url, timeoutMs: timeout, secret, fetch, ...systemClock }),
  );
  return publisher === undefined ? webhooks : [kafkaTarget(publisher, config.topic), ...webhooks];
}
