import { minuteMs } from '../../../../src/base/time.ts';
import type { AnomalyEvent } from '../../../../src/contract/anomaly-event.ts';
import { defaultFleet } from '../../../../src/generate/default-fleet.ts';
import type { Fault } from '../../../../src/generate/fault.ts';
import { publishedTraffic } from '../../../../src/generate/publish/published-traffic.ts';
import { AnomalyStore } from '../../../../src/sink/anomalies/anomaly-store.ts';
import { packed } from '../../kit/packed.ts';
import { poll } from '../../kit/poll.ts';
import type { Rig } from '../../kit/rig.ts';

/** Faults that are not over, and the event that the detector has last of them. */
export interface Plot {
  /** From the start of the traffic, with a past to learn from. */
  readonly faults: readonly Fault[];
  readonly isWanted: (event: AnomalyEvent) => boolean;
}

const endMs = 24 * minuteMs;
export const fault = { model: 'ranker', region: 'eu-west-1', stage: 'features' };
const toTheEnd = (fromMs: number) => ({ fromMs, forMs: endMs - fromMs });
const isOpenTail = ({ kind, state }: AnomalyEvent) => kind === 'tail_shift' && state !== 'resolved';
const slowStage = { kind: 'slow_stage', ...fault, share: 0.25 } as const;

export const plots = {
  /** A stage of a region is slow. */
  opened: {
    faults: [{ ...slowStage, factor: 12, ...toTheEnd(18 * minuteMs) }],
    isWanted: isOpenTail,
  },
  /** It becomes slower and slower, everywhere. */
  updated: {
    faults: [
      {
        ...{ kind: 'slow_stage', model: fault.model, stage: fault.stage, share: 0.25 },
        ...{ factor: 24, rampMs: 10 * minuteMs },
        ...toTheEnd(13 * minuteMs),
      },
    ],
    isWanted: (event) => isOpenTail(event) && event.revision > 1,
  },
  /** Another stage is slow, too, some minutes later. */
  second: {
    faults: [
      { ...slowStage, factor: 6, ...toTheEnd(14 * minuteMs) },
      { ...slowStage, stage: 'forward', share: 1, factor: 3, ...toTheEnd(19 * minuteMs) },
    ],
    isWanted: (event) => isOpenTail(event) && event.stage === 'forward',
  },
  /** Requests fail. */
  failures: {
    faults: [{ ...{ kind: 'errors', model: fault.model, share: 0.2 }, ...toTheEnd(17 * minuteMs) }],
    isWanted: ({ kind, state }) => kind === 'error_rate' && state !== 'resolved',
  },
} satisfies Readonly<Record<string, Plot>>;

/** Traffic of a fault that is not over, up to now. */
export interface FaultyTraffic {
  readonly startMs: number;
  readonly endMs: number;
}

/** Publishes traffic with faults that are not over, and waits until all of it is stored. */
export async function publishFault(rig: Rig, { faults }: Plot): Promise<FaultyTraffic> {
  const startMs = Math.floor((Date.now() - endMs) / minuteMs) * minuteMs;
  const sent = messages(startMs, faults);
  await rig.publish(packed(sent));
  await rig.untilConsumed(sent.length);
  return { startMs, endMs: startMs + endMs };
}

function messages(startMs: number, faults: readonly Fault[]) {
  const events = [
    ...publishedTraffic({
      ...{ seed: 'numbers', startMs, durationMs: endMs, ratePerSecond: 100, dailySwing: 0 },
      models: defaultFleet.filter(({ name }) => name === fault.model),
      faults,
    }),
  ];
  return events.map(({ event }) => event);
}

/** The newest event of the open incident, once the detector has evaluated the traffic up to its last minute. */
export async function openIncident(
  rig: Rig,
  { endMs }: FaultyTraffic,
  { isWanted }: Plot,
): Promise<AnomalyEvent> {
  const anomalies = new AnomalyStore(rig.client);
  let evaluatedMs: number | undefined;
  let found: AnomalyEvent[] = [];
  return poll(
    'an open incident',
    async () => {
      evaluatedMs = await anomalies.evaluatedUntilMs(rig.config.kafka.group_id);
      if (evaluatedMs === undefined || evaluatedMs < endMs - minuteMs) return undefined;
      found = await anomalies.since(0, { model: fault.model, state: '', limit: 10 });
      return found.find(isWanted);
    },
    { deadlineMs: 120_000, seen: () => [evaluatedMs, found.map(({ summary }) => summary)] },
  );
}
