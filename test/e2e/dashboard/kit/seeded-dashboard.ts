import { dayMs, minuteMs } from '../../../../src/base/time.ts';
import type { AnomalyEvent } from '../../../../src/contract/anomaly-event.ts';
import { withAsOf } from '../../../../src/contract/as-of.ts';
import { AnomalyStore } from '../../../../src/sink/anomalies/anomaly-store.ts';
import { MuteStore } from '../../../../src/sink/anomalies/mute-store.ts';
import type { StackEndpoints } from '../../../containers/global-setup.ts';
import { anomalyFixture } from '../../../contract/anomaly-fixture.ts';
import type { Rig } from '../../kit/rig.ts';
import { useRig } from '../../kit/with-rig.ts';
import { hostileModel, store, trafficOf } from '../../views/view-traffic.ts';

export const openId = 'a'.repeat(32);

/**
 * Two versions of ranker, a model with a hostile name, one with few requests, and yesterday's hour for a
 * baseline; an incident that is open and one that is over; a mute that somebody has ended.
 */
export async function seedDashboard(rig: Rig): Promise<void> {
  const nowMs = Date.now();
  const fromMs = Math.floor((nowMs - 30 * minuteMs) / minuteMs) * minuteMs;
  const ranker = { model: 'ranker', minutes: 25 };
  await store(rig, [
    ...trafficOf({ ...ranker, name: 'v1', version: 'v1', fromMs, requests: 6_000 }),
    ...trafficOf({ ...ranker, name: 'v2', version: 'v2', fromMs, requests: 6_000, queueFactor: 3 }),
    ...trafficOf({ ...ranker, name: 'cold', version: 'v1', fromMs, requests: 300, cold: true }),
    ...trafficOf({
      ...ranker,
      name: 'before',
      version: 'v1',
      fromMs: fromMs - dayMs,
      requests: 6_000,
    }),
    ...trafficOf({
      name: 'h',
      model: hostileModel,
      version: 'v1',
      fromMs,
      requests: 500,
      minutes: 25,
    }),
    ...trafficOf({ name: 'few', model: 'few', version: 'v1', fromMs, requests: 9, minutes: 25 }),
  ]);
  await new MuteStore(rig.client).put({
    ...{ id: 'm1', fromMs: nowMs - 30 * minuteMs, untilMs: nowMs - 20 * minuteMs },
    ...{ models: ['nobody*'], kinds: [], dimensions: { region: 'eu-*' }, why: 'load test' },
    ...{ who: 'ann', onBehalfOf: 'the drill', addedMs: nowMs - 30 * minuteMs },
    ...{ plannedUntilMs: nowMs, endedMs: nowMs - 20 * minuteMs, endedBy: 'bob' },
  });
  const anomalies = new AnomalyStore(rig.client);
  const event = (id: string, agoMinutes: number, changed: Partial<AnomalyEvent> = {}) => {
    const at = new Date(nowMs - agoMinutes * minuteMs).toISOString();
    const times = { started_at: at, detected_at: at, emitted_at: at };
    return anomalyFixture({ id, ...times, version: 'v2', ...changed });
  };
  const over = 'b'.repeat(32);
  const measuredAt = new Date(nowMs - 11 * minuteMs).toISOString();
  const summary = withAsOf('p99 of ranker is 412 ms, 3.4 × its baseline 121 ms', measuredAt);
  await anomalies.add(event(openId, 12, { summary, measured_at: measuredAt }));
  await anomalies.add(event(over, 20, { model: hostileModel, severity: 'warning' }));
  await anomalies.add(
    event(over, 20, {
      ...{ model: hostileModel, severity: 'warning', revision: 2, state: 'resolved' },
      ...{ resolution: 'recovered', resolved_at: new Date(nowMs - 15 * minuteMs).toISOString() },
    }),
  );
}

/** A seeded dashboard that the tests of a file share, as they only read it. */
export function useDashboard(stack: StackEndpoints, seed = seedDashboard) {
  let url = '';
  const rig = useRig({ stack, name: 'dashboard' }, async (opened) => {
    await seed(opened);
    ({ url = '' } = await opened.start(['ingest', 'serve']));
  });
  return { rig, url: () => url };
}
