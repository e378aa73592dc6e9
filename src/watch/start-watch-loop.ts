import { AlertDispatcher } from '../alert/alert-dispatcher.ts';
import { openAlertTargets } from '../alert/open-alert-targets.ts';
import { systemClock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { Config } from '../config/schema.ts';
import { alwaysLeading } from '../source/always-leading.ts';
import { createKafkaClient } from '../source/kafka-client.ts';
import { KafkaLeadership } from '../source/kafka-leadership.ts';
import type { Leadership } from '../source/leadership.ts';
import type { Publisher } from '../source/publisher.ts';
import { WatchLoop } from './watch-loop.ts';
import { Watcher, type WatcherOptions } from './watcher.ts';

export interface WatchLoopParts extends Omit<WatcherOptions, 'dispatcher' | 'nowMs' | 'isLeading'> {
  /** undefined: anomalies go to the table and to webhooks only. */
  readonly publisher: Publisher | undefined;
}

/** The detect role, with the configured alert targets, at work or standing by. */
export async function startWatchLoop(parts: WatchLoopParts): Promise<WatchLoop> {
  const { config, publisher, log, metrics } = parts;
  const dispatcher = new AlertDispatcher({
    targets: openAlertTargets(config.alert, publisher),
    onFailure: ({ target, error }, event) => {
      metrics.alertsFailed.inc({ target });
      const fields = { target, anomaly: event.id, err: error.message };
      log.error(fields, 'an event was not delivered');
    },
  });
  const leadership = await openLeadership(config, log);
  const isLeading = () => leadership.isLeading();
  const makeWatcher = () =>
    new Watcher({ ...parts, dispatcher, nowMs: () => Date.now(), isLeading });
  const loop = new WatchLoop(makeWatcher, {
    intervalMs: config.detect.interval,
    judgeAtEnd: config.source.type !== 'kafka',
    leadership,
    log,
    metrics,
  });
  try {
    await loop.start();
  } catch (error) {
    await leadership.stop();
    throw error;
  }
  return loop;
}

/** Of the processes that read from Kafka one detects; one that reads a file is alone. */
async function openLeadership(config: Config, log: Logger): Promise<Leadership> {
  if (config.source.type !== 'kafka') return alwaysLeading;
  return KafkaLeadership.open({
    kafka: createKafkaClient(config.kafka, { log }),
    config: config.kafka,
    groupId: `${config.kafka.group_id}-detect`,
    topic: config.alert.topic,
    sessionTimeoutMs: config.detect.session_timeout,
    clock: systemClock,
    log,
  });
}
