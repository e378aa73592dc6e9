import { minuteMs } from '../../../../src/base/time.ts';
import type { AnomalyEvent } from '../../../../src/contract/anomaly-event.ts';
import { defaultFleet } from '../../../../src/generate/default-fleet.ts';
import { publishedTraffic } from '../../../../src/generate/publish/published-traffic.ts';
import { AnomalyStore } from '../../../../src/sink/anomalies/anomaly-store.ts';
import { packed } from '../../kit/packed.ts';
import { poll } from '../../kit/poll.ts';
import type { Rig } from '../../kit/rig.ts';

/** From the start of the traffic: a past to learn from, and a stage that is slow to the end. */
const plot = { faultFromMs: 18 * minuteMs, endMs: 24 * minuteMs };
export const fault = { model: 'ranker', region: 'eu-west-1', stage: 'features' };

/** Traffic of a fault that is not over, up to now. */
export interface FaultyTraffic {
  readonly startMs: number;
  readonly endMs: number;
}

/** Publishes traffic with a fault that is not over, and waits until all of it is stored. */
export async function publishFault(rig: Rig): Promise<FaultyTraffic> {
  const startMs = Math.floor((Date.now() - plot.endMs) / minuteMs) * minuteMs;
  const sent = messages(startMs);
  await rig.publish(packed(sent));
  await rig.untilConsumed(sent.length);
  return { startMs, endMs: startMs + plot.endMs };
}

function messages(startMs: number) {
  const events = [
    ...publishedTraffic({
      ...{ seed: 'numbers', startMs, durationMs: plot.endMs, ratePerSecond: 100, dailySwing: 0 },
      models: defaultFleet.filter(({ name }) => name === fault.model),
      faults: [
        {
          ...{ kind: 'slow_stage', ...fault, factor: 12, share: 0.25 },
          ...{ fromMs: plot.faultFromMs, forMs: plot.endMs - plot.faultFromMs },
        },
      ],
    }),
  ];
  return events.map(({ event }) => event);
}

/** The newest event of the open incident, once the detector has evaluated the traffic up to its last minute. */
export async function openIncident(rig: Rig, { endMs }: FaultyTraffic): Promise<AnomalyEvent> {
  const anomalies = new AnomalyStore(rig.client);
  let evaluatedMs: number | undefined;
  let found: AnomalyEvent[] = [];
  return poll(
    'an open incident',
    async () => {
      evaluatedMs = await anomalies.evaluatedUntilMs(rig.config.kafka.group_id);
      if (evaluatedMs === undefined || evaluatedMs < endMs - minuteMs) return undefined;
      found = await anomalies.since(0, { model: fault.model, state: '', limit: 10 });
      return found.find(({ kind, state }) => kind === 'tail_shift' && state !== 'resolved');
    },
    { deadlineMs: 120_000, seen: () => [evaluatedMs, found.map(({ summary }) => summary)] },
  );
}
