import { dayMs, minuteMs } from '../../../src/base/time.ts';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { AnomalyStore } from '../../../src/sink/anomalies/anomaly-store.ts';
import { MuteStore } from '../../../src/sink/anomalies/mute-store.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';
import type { Rig } from '../kit/rig.ts';
import { hostileModel, type SentRequest, store, trafficOf } from '../views/view-traffic.ts';

/** Noon of yesterday, UTC: tables keep it, and no part of a day or an hour differs from run to run. */
export const startMs = Math.floor(Date.now() / dayMs) * dayMs - dayMs / 2;
/** The time at which everything is asked. */
export const nowMs = startMs + 30 * minuteMs;
export const openId = 'a'.repeat(32);
const overId = 'b'.repeat(32);

/** Two versions of a model, models with other names, and the same hour of the day before. */
function goldenTraffic(): SentRequest[] {
  const ranker = { model: 'ranker', minutes: 25, fromMs: startMs };
  const single = { version: 'v1', minutes: 25, fromMs: startMs };
  const before = { ...ranker, name: 'before', version: 'v1', fromMs: startMs - dayMs };
  return [
    ...trafficOf({ ...before, requests: 2_000 }),
    ...trafficOf({ ...ranker, name: 'v1', version: 'v1', requests: 2_500 }),
    ...trafficOf({ ...ranker, name: 'v2', version: 'v2', requests: 2_500, queueFactor: 3 }),
    ...trafficOf({ ...ranker, name: 'cold', version: 'v1', requests: 100, cold: true }),
    ...trafficOf({ ...single, name: 'h', model: hostileModel, requests: 100 }),
    ...trafficOf({ ...single, name: 'few', model: 'few', requests: 9 }),
    // Afterwards: windows are complete up to the newest request.
    ...trafficOf({
      ...single,
      name: 'l',
      model: 'later',
      requests: 1,
      fromMs: startMs + 2 * minuteMs,
    }),
  ];
}

/** An incident that is open, one that is over, and two mutes. */
async function storeEvents(rig: Rig): Promise<void> {
  const anomalies = new AnomalyStore(rig.client);
  const event = (id: string, agoMinutes: number, changed: Partial<AnomalyEvent> = {}) => {
    const at = new Date(nowMs - agoMinutes * minuteMs).toISOString();
    const times = { started_at: at, detected_at: at, emitted_at: at };
    const { evidence } = anomalyFixture();
    const [baseline_from, baseline_to] = [dayMs, minuteMs * agoMinutes].map((ms) =>
      new Date(nowMs - ms).toISOString(),
    ) as [string, string];
    const own = { evidence: { ...evidence, baseline_from, baseline_to } };
    return anomalyFixture({ id, ...times, ...own, version: 'v2', region: '', ...changed });
  };
  const over = { model: hostileModel, severity: 'warning' } as const;
  const summary = 'p99 of ranker is 412 ms, 3.4 × its baseline 121 ms';
  await anomalies.add(event(openId, 12, { summary, stage: 'queue' }));
  await anomalies.add(event(overId, 20, over));
  const resolved_at = new Date(nowMs - 15 * minuteMs).toISOString();
  const end = { revision: 2, state: 'resolved', resolution: 'recovered', resolved_at } as const;
  await anomalies.add(event(overId, 20, { ...over, ...end }));
  const mute = { kinds: [], dimensions: { region: 'eu-*' }, why: 'load test', who: 'ann' };
  const halfHourAgoMs = nowMs - 30 * minuteMs;
  const mutes = new MuteStore(rig.client);
  await mutes.put({
    ...{ id: 'm1', fromMs: halfHourAgoMs, untilMs: nowMs - 20 * minuteMs, models: ['nobody*'] },
    ...{ ...mute, onBehalfOf: 'the drill', addedMs: halfHourAgoMs },
    ...{ plannedUntilMs: nowMs, endedMs: nowMs - 20 * minuteMs, endedBy: 'bob' },
  });
  await mutes.put({
    ...{ id: 'm2', fromMs: halfHourAgoMs, untilMs: nowMs + 60 * minuteMs, models: ['few'] },
    ...{ ...mute, onBehalfOf: '', addedMs: halfHourAgoMs },
    ...{ plannedUntilMs: nowMs + 60 * minuteMs, endedMs: undefined, endedBy: '' },
  });
}

/** All traffic is one chunk: else its digests would depend on how fast it was read. */
export const goldenSettings = {
  INGEST_FLUSH_INTERVAL: '5m',
  INGEST_FLUSH_MAX_EVENTS: String(goldenTraffic().length),
  // A joint objective, whose counts are among those of no stage.
  DETECT_SLOS: JSON.stringify([
    { name: 'fast', model: 'rank*', threshold: '50ms', objective: 0.9 },
    { name: 'served', model: 'rank*', all: { queue: '20ms', total: '60ms' }, objective: 0.9 },
  ]),
};

export async function storeGoldenData(rig: Rig): Promise<void> {
  await store(rig, goldenTraffic());
  await storeEvents(rig);
}

/** Queries reach back 30 days. */
const maxSeconds = 40 * 86_400;
/** The moment in the examples of messages, which is the same on any day. */
const example = '2026-11-01T12:00:00';

/** Times as the distance from `nowMs`, so that a text is the same on any day; and no name of this rig. */
export function withoutDay(text: string, rig: Rig, url = ''): string {
  const shown = (ms: number) => {
    const seconds = (ms - nowMs) / 1000;
    return Math.abs(seconds) < maxSeconds ? `now${seconds < 0 ? '' : '+'}${seconds}s` : undefined;
  };
  return text
    .replaceAll(rig.topic, 'golden')
    .replaceAll(/"log_id":"[^"]+"/g, '"log_id":"LOG"')
    .replaceAll(url === '' ? '\0' : url, 'http://golden.example')
    .replaceAll(/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?/g, (time) => {
      const iso = time.replace(' ', 'T').replace(/Z$/, '');
      if (iso === example) return time;
      return shown(Date.parse(`${iso.length === 16 ? `${iso}:00` : iso}Z`)) ?? time;
    })
    .replaceAll(/\b1[789]\d{8}\b/g, (seconds) => shown(Number(seconds) * 1000) ?? seconds)
    .replaceAll(/\b1[789]\d{11}\b/g, (ms) => shown(Number(ms)) ?? ms);
}
