import { expect, it } from 'vitest';
import { AnomalyStore } from '../../src/sink/anomalies/anomaly-store.ts';
import { useStack } from '../containers/stack.ts';
import { anomalyFixture } from '../contract/anomaly-fixture.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();

it('keeps an event that is added twice once, and adds one again whose rows are gone', () =>
  withRig({ stack, name: 'anomaly-store' }, async (rig) => {
    const { client } = rig;
    const store = new AnomalyStore(client);
    const event = anomalyFixture({ state: 'opened' });
    const stored = () => rig.rows('SELECT id, revision FROM anomalies FINAL');
    await store.add(event);
    await store.add(event);
    expect(await stored()).toEqual([{ id: event.id, revision: event.revision }]);
    // As after a server that was killed with the insert's token stored and its rows not.
    await client.command({
      query: 'DELETE FROM anomalies WHERE 1',
      clickhouse_settings: { lightweight_deletes_sync: '2' },
    });
    expect(await stored()).toEqual([]);
    await store.add(event);
    expect(await stored()).toEqual([{ id: event.id, revision: event.revision }]);
  }));

it('lists failed requests first for failures, and last for slow ones', () =>
  withRig({ stack, name: 'anomaly-requests' }, async (rig) => {
    const { client } = rig;
    const atMs = Math.floor(Date.now() / 10_000) * 10_000;
    const tail = anomalyFixture({ started_at: new Date(atMs).toISOString() });
    const row = (trace_id: string, status: string, total_ms: number) => ({
      ...{ model: tail.model, version: tail.version, request_type: tail.request_type },
      ...{ region: tail.region, cold_start: tail.cold_start, window_start: atMs / 1000 },
      ...{
        event_time: atMs / 1000,
        trace_id,
        status,
        total_ms,
        stages_ms: { [tail.stage]: total_ms },
      },
    });
    await client.insert({
      ...{ table: 'exemplars', format: 'JSONEachRow' },
      values: [row('slow', 'ok', 900), row('time-out', 'timeout', 700), row('failed', 'error', 20)],
    });
    const store = new AnomalyStore(client);
    const tracesOf = async (event: typeof tail) =>
      (await store.slowest(event, atMs, atMs + 10_000)).map(({ trace_id }) => trace_id);
    expect(await tracesOf(tail)).toEqual(['slow', 'time-out', 'failed']);
    const rate = {
      ...{ observed: 0.2, baseline: 0.01, ratio: 20, interval: [0.1, 0.3] as [number, number] },
      unit: 'errors per request' as const,
    };
    const failures = anomalyFixture({ kind: 'error_rate', stage: 'total', rate });
    expect(await tracesOf(failures)).toEqual(['time-out', 'failed', 'slow']);
  }));
