import { Outbox } from '../../alert/outbox/outbox.ts';
import { ReceiverWatch } from '../../alert/outbox/receiver-watch.ts';
import { neverMatches } from '../../alert/routing/never-matches.ts';
import { openRoutes } from '../../alert/routing/open-routes.ts';
import type { Route } from '../../alert/routing/route.ts';
import { systemClock } from '../../base/clock.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import type { Config } from '../../config/schema.ts';
import { createKafkaClient } from '../../kafka/client/kafka-client.ts';
import { KafkaLeadership } from '../../kafka/leadership/kafka-leadership.ts';
import type { Leadership } from '../../kafka/leadership/leadership.ts';
import { alwaysLeading } from '../../kafka/leadership/leadership.ts';
import { DeliveryStore } from '../../sink/anomalies/delivery-store.ts';
import { MuteStore } from '../../sink/anomalies/mute-store.ts';
import { clickHouseError } from '../../sink/client/clickhouse.ts';
import { LastingError } from '../../sink/client/lasting-error.ts';
import { ClockWatch } from '../../sink/guard/clock-watch.ts';
import { findServer, storeIdOf } from '../../sink/guard/one-server.ts';
import type { RoleContext } from '../role.ts';
import { ClockChecks } from './clock-checks.ts';
import { openArrivals, openCompleteness } from './completeness/open-completeness.ts';
import { LeaderLoop } from './leader-loop.ts';
import { VersionWatch } from './version-watch.ts';
import { WindowEvaluator } from './window-evaluator.ts';

/**
 * Starts the detect role with the configured receivers, as leader or on standby.
 *
 * @throws LeadershipLost when `signal` ends the start.
 */
export async function startDetect(context: RoleContext): Promise<LeaderLoop> {
  const { config, client, publisher, log, metrics, signal } = context;
  const routes = openRoutes(config.alert, publisher, process.env);
  for (const { name, match } of config.alert.receivers) {
    const reason = neverMatches(match, config);
    if (reason !== undefined) log.error({ receiver: name, reason }, 'a receiver can never match');
  }
  const clocks = new ClockChecks({
    find: () => findServer(config.clickhouse, 1),
    watch: new ClockWatch({ role: 'detect', clock: systemClock, log, metrics }),
    clock: systemClock,
  });
  const server = await clocks.start().catch((error: unknown) => {
    throw clickHouseError(error, 'compare the clocks', config.clickhouse);
  });
  const leadership = await openLeadership(config, storeIdOf(server), log).catch((error) => {
    clocks.stop();
    throw error;
  });
  const arrivals = openArrivals(context);
  await arrivals?.start();
  const makeEvaluator = (isLeading: () => boolean) => {
    const completeness = arrivals === undefined ? undefined : openCompleteness(arrivals, context);
    const outbox = openOutbox(context, routes, isLeading);
    const { nowMs } = systemClock;
    const drainsAtEnd = config.source.type !== 'kafka';
    return new WindowEvaluator({
      ...context,
      ...{ outbox, drainsAtEnd, nowMs, isLeading, completeness, handover: leadership.handover },
    });
  };
  const versions = new VersionWatch({
    ...{ routes, client, log, clock: systemClock, store: new DeliveryStore(client) },
    isLeading: () => leadership.isLeading(),
  });
  versions.start();
  const lasting = new LastingError(config.clickhouse, 'detect');
  const onStop = () => {
    clocks.stop();
    arrivals?.stop();
    versions.stop();
    for (const { receiver } of routes) void receiver.close();
  };
  const loop = new LeaderLoop(makeEvaluator, {
    intervalMs: config.detect.interval,
    evaluateAtEnd: config.source.type !== 'kafka',
    leadership,
    lasting,
    signal,
    log,
    metrics,
    alsoProblems: () => clocks.problems(),
    onStop,
  });
  try {
    await loop.start();
  } catch (error) {
    onStop();
    await leadership.stop();
    throw lasting.reason(error) ?? error;
  }
  return loop;
}

function openOutbox(
  { config, client, log, metrics }: RoleContext,
  routes: readonly Route[],
  isLeading: () => boolean,
): Outbox {
  const mutes = new MuteStore(client);
  const store = new DeliveryStore(client);
  const receivers = routes.map(({ receiver }) => receiver.name);
  return new Outbox({
    routes,
    store,
    readMutes: (afterMs) => mutes.endingAfter(afterMs),
    giveUpAfterMs: config.alert.give_up_after,
    watch: new ReceiverWatch({ receivers, store, nowMs: systemClock.nowMs }),
    clock: systemClock,
    random: Math.random,
    isLeading,
    log,
    metrics,
  });
}

/** One of the processes that read from Kafka leads. A process that reads a file is alone. */
async function openLeadership(config: Config, storeId: string, log: Logger): Promise<Leadership> {
  if (config.source.type !== 'kafka') return alwaysLeading;
  return KafkaLeadership.open({
    kafka: createKafkaClient(config.kafka, { log }),
    config: config.kafka,
    groupId: `${config.kafka.group_id}-detect`,
    topic: config.alert.topic,
    storeId,
    sessionTimeoutMs: config.detect.session_timeout,
    clock: systemClock,
    log,
  });
}
