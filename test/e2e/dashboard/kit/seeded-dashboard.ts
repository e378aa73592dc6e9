import type { AnomalyEvent } from '../../../../src/detect/event/anomaly-event.ts';
import { AnomalyStore } from '../../../../src/sink/anomalies/anomaly-store.ts';
import { anomalyFixture } from '../../../detect/anomaly-fixture.ts';
import type { Rig } from '../../kit/rig.ts';
import { dayMs, hostileModel, minuteMs, store, trafficOf } from '../../views/view-traffic.ts';

export const openId = 'a'.repeat(32);

/**
 * Two versions of ranker, a model with a hostile name, one with few requests, and yesterday's hour for a
 * baseline; an incident that is open and one that is over.
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
  const anomalies = new AnomalyStore(rig.client);
  const event = (id: string, agoMinutes: number, changed: Partial<AnomalyEvent> = {}) => {
    const at = new Date(nowMs - agoMinutes * minuteMs).toISOString();
    const times = { started_at: at, detected_at: at, emitted_at: at };
    return anomalyFixture({ id, ...times, version: 'v2', ...changed });
  };
  const over = 'b'.repeat(32);
  await anomalies.add(
    event(openId, 12, { summary: 'p99 of ranker is 412 ms, 3.4 × its baseline 121 ms' }),
  );
  await anomalies.add(event(over, 20, { model: hostileModel, severity: 'warning' }));
  await anomalies.add(
    event(over, 20, {
      ...{ model: hostileModel, severity: 'warning', revision: 2, state: 'resolved' },
      ...{ resolution: 'recovered', resolved_at: new Date(nowMs - 15 * minuteMs).toISOString() },
    }),
  );
}
