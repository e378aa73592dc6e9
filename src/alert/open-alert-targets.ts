import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { exitCodes } from '../base/exit-codes.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { Config } from '../config/schema.ts';
import type { Publisher } from '../source/publisher.ts';
import type { AlertTarget } from './alert-target.ts';
import { KafkaTarget } from './kafka-target.ts';
import { WebhookTarget } from './webhook-target.ts';

/**
 * The configured targets; the topic only where there is a publisher.
 *
 * @throws OperatorError when a secret cannot be read.
 */
export function openAlertTargets(
  config: Config['alert'],
  publisher: Publisher | undefined,
): AlertTarget[] {
  const webhooks = config.webhooks.map(
    ({ url, timeout, secret_file }) =>
      new WebhookTarget({
        url,
        timeoutMs: timeout,
        secret: secret_file === undefined ? undefined : firstLineOf(secret_file),
        fetch,
        nowMs: () => Date.now(),
        sleep: (ms) => sleep(ms),
      }),
  );
  return publisher === undefined
    ? webhooks
    : [new KafkaTarget(publisher, config.topic), ...webhooks];
}

function firstLineOf(path: string): string {
  try {
    return (readFileSync(path, 'utf8').split(/\r?\n/, 1)[0] ?? '').trim();
  } catch (error) {
    throw new OperatorError(
      'TAILMARK_FILE_UNREADABLE',
      `Cannot sign webhooks as alert.webhooks.secret_file must be readable: it is ${path}`,
      { hint: 'Its first line is the secret.', exitCode: exitCodes.config, cause: error },
    );
  }
}
