import { systemClock } from '../../../base/clock.ts';
import { createKafkaClient, probing } from '../../../kafka/client/kafka-client.ts';
import { LagProbe } from '../../../kafka/liveness/lag-probe.ts';
import { idleAfterMs, normalLagMs, readProgress } from '../../../sink/windows/window-progress.ts';
import type { RoleContext } from '../../role.ts';
import { ArrivalCompleteness } from './arrival-completeness.ts';
import { ArrivalLog } from './arrival-log.ts';
import type { CompletenessProbe } from './completeness.ts';

/** A probe of Kafka that takes longer fails. */
const PROBE_TIMEOUT_MS = 5_000;

/** Probes end offsets with its own client. A file has none. */
export function openArrivals({
  config,
  groupId,
}: Pick<RoleContext, 'config' | 'groupId'>): ArrivalLog | undefined {
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

/** Which windows are complete, by what has arrived in Kafka and what is stored. */
export function openCompleteness(
  arrivals: ArrivalLog,
  { config, client, groupId }: Pick<RoleContext, 'config' | 'client' | 'groupId'>,
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
