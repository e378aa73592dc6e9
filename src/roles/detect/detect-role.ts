import { AlertDispatcher } from '../../alert/alert-dispatcher.ts';
import { openAlertTargets } from '../../alert/open-alert-targets.ts';
import { systemClock } from '../../base/clock.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import type { Config } from '../../config/schema.ts';
import { probing } from '../../ingest/open-source.ts';
import { createKafkaClient } from '../../kafka/client/kafka-client.ts';
import { KafkaLeadership } from '../../kafka/leadership/kafka-leadership.ts';
import type { Leadership } from '../../kafka/leadership/leadership.ts';
import { alwaysLeading } from '../../kafka/leadership/leadership.ts';
import { LagProbe } from '../../kafka/liveness/lag-probe.ts';
import { clickHouseError } from '../../sink/clickhouse.ts';
import { ClockWatch } from '../../sink/guard/clock-watch.ts';
import { findServer, storeIdOf } from '../../sink/guard/one-server.ts';
import { LastingError } from '../../sink/lasting-error.ts';
import { idleAfterMs, normalLagMs, readProgress } from '../../sink/windows/window-progress.ts';
import type { RoleContext } from '../role.ts';
import { ClockChecks } from './clock-checks.ts';
import { ArrivalCompleteness } from './completeness/arrival-completeness.ts';
import { ArrivalLog } from './completeness/arrival-log.ts';
import type { CompletenessProbe } from './completeness/completeness.ts';
import { LeaderLoop } from './leader-loop.ts';
import { WindowEvaluator } from './window-evaluator.ts';

/** A probe of Kafka that takes longer fails. */
const PROBE_TIMEOUT_MS = 5_000;

/**
 * Starts the detect role with the configured alert targets, as leader or on standby.
 *
 * @throws LeadershipLost when `signal` ends the start.
 */
export async function startDetect(context: RoleContext): Promise<LeaderLoop> {
  const { config, publisher, log, metrics, signal } = context;
  const dispatcher = new AlertDispatcher({
    targets: openAlertTargets(config.alert, publisher),
    onFailure: ({ target, error }, event) => {
      metrics.alertsFailed.inc({ target });
      const fields = { target, anomaly: event.id, err: error.message };
      log.error(fields, 'an event was not delivered');
    },
  });
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
    const completeness = arrivals === undefined ? undefined : completenessBy(arrivals, context);
    const { nowMs } = systemClock;
    return new WindowEvaluator({ ...context, dispatcher, nowMs, isLeading, completeness });
  };
  const lasting = new LastingError(config.clickhouse, 'detect');
  const onStop = () => {
    clocks.stop();
    arrivals?.stop();
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

/** Probes end offsets with a client of its own. A file has none. */
function openArrivals({ config, groupId }: RoleContext): ArrivalLog | undefined {
  if (config.source.type !== 'kafka') return undefined;
  const probe = new LagProbe({
    kafka: createKafkaClient(config.kafka, probing),
    topics: config.kafka.topics,
    groupId,
    clock: systemClock,
    timeoutMs: PROBE_TIMEOUT_MS,
    leavesOutMissing: true,
  });
  return new ArrivalLog(probe, systemClock);
}

function completenessBy(
  arrivals: ArrivalLog,
  { config, client, groupId }: RoleContext,
): CompletenessProbe {
  return new ArrivalCompleteness({
    arrivals,
    readProgress: () => readProgress(client, groupId, arrivals.clusterId),
    nowMs: systemClock.nowMs,
    idleMs: idleAfterMs(config),
    maxWaitMs: config.windows.max_wait,
    normalLagMs: normalLagMs(config),
    fromEarliest: config.kafka.start_from === 'earliest',
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
