import { Outbox } from '../../alert/outbox/outbox.ts';
import { openRoutes } from '../../alert/routing/open-routes.ts';
import { systemClock } from '../../base/clock.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import type { Config } from '../../config/schema.ts';
import { createKafkaClient } from '../../kafka/client/kafka-client.ts';
import { KafkaLeadership } from '../../kafka/leadership/kafka-leadership.ts';
import type { Leadership } from '../../kafka/leadership/leadership.ts';
import { alwaysLeading } from '../../kafka/leadership/leadership.ts';
import { DeliveryStore } from '../../sink/anomalies/delivery-store.ts';
import { MuteStore } from '../../sink/anomalies/mute-store.ts';
import { LastingError } from '../../sink/lasting-error.ts';
import type { RoleContext } from '../role.ts';
import { openArrivals, openCompleteness } from './completeness/open-completeness.ts';
import { LeaderLoop } from './leader-loop.ts';
import { VersionWatch } from './version-watch.ts';
import { WindowEvaluator } from './window-evaluator.ts';

/**
 * Starts the detect role with the configured alert targets, as leader or on standby.
 *
 * @throws LeadershipLost when `signal` ends the start.
 */
export async function startDetect(context: RoleContext): Promise<LeaderLoop> {
  const { config, client, publisher, log, metrics, signal } = context;
  const routes = openRoutes(config.alert, publisher, process.env);
  const leadership = await openLeadership(config, log);
  const arrivals = openArrivals(context);
  await arrivals?.start();
  const makeEvaluator = (isLeading: () => boolean) => {
    const completeness = arrivals === undefined ? undefined : openCompleteness(arrivals, context);
    const mutes = new MuteStore(client);
    const outbox = new Outbox({
      routes,
      store: new DeliveryStore(client),
      readMutes: () => mutes.endingAfter(systemClock.nowMs()),
      giveUpAfterMs: config.alert.give_up_after,
      clock: systemClock,
      random: Math.random,
      isLeading,
      log,
      metrics,
    });
    const { nowMs } = systemClock;
    const drainsAtEnd = config.source.type !== 'kafka';
    return new WindowEvaluator({
      ...context,
      ...{ outbox, drainsAtEnd, nowMs, isLeading, completeness },
    });
  };
  const versions = new VersionWatch({
    ...{ routes, client, log, clock: systemClock, store: new DeliveryStore(client) },
    isLeading: () => leadership.isLeading(),
  });
  versions.start();
  const lasting = new LastingError(config.clickhouse, 'detect');
  const loop = new LeaderLoop(makeEvaluator, {
    intervalMs: config.detect.interval,
    evaluateAtEnd: config.source.type !== 'kafka',
    leadership,
    lasting,
    signal,
    log,
    metrics,
    onStop: () => {
      arrivals?.stop();
      versions.stop();
      for (const { receiver } of routes) void receiver.close();
    },
  });
  try {
    await loop.start();
  } catch (error) {
    arrivals?.stop();
    versions.stop();
    await leadership.stop();
    throw lasting.reason(error) ?? error;
  }
  return loop;
}

/** One of the processes that read from Kafka leads. A process that reads a file is alone. */
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
