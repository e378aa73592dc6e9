import { expect, it } from 'vitest';
import type { AnomalyEvent } from '../../src/contract/anomaly-event.ts';
import { firstMemberIdOf } from '../../src/contract/anomaly-identity.ts';
import { Detector } from '../../src/detect/detector.ts';
import { AnomalyStore } from '../../src/sink/anomalies/anomaly-store.ts';
import { useStack } from '../containers/stack.ts';
import { anomalyFixture } from '../contract/anomaly-fixture.ts';
import { detectOptions } from '../scenarios/run-scenario.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const migration = '0010_event_names';
const windowMs = 10_000;

/** Today's fields under their names before 0010, in the order in which that version wrote them. */
const before = {
  scope: {
    ...{ series: 2, open: 2, of: 3, common: [{ dimension: 'region', value: 'eu' }] },
    values: [{ dimension: 'region', value: 'eu', series: 2, of: 2 }],
  },
  drivers: [
    {
      ...{ facet: 'host', value: 'pod-"of_all":7', of_slow: 0.7, of_all: 0.1, usual_of_all: 0.1 },
      ...{ slow_rate: 0.4, others_slow_rate: 0.02 },
      ...{ usual_slow_rate: 0.01, usual_others_slow_rate: 0.02 },
    },
  ],
};
const now: Partial<AnomalyEvent> = {
  scope: {
    ...{ affected: 2, unresolved: 2, total: 3, common: [{ dimension: 'region', value: 'eu' }] },
    values: [{ dimension: 'region', value: 'eu', affected: 2, total: 2 }],
  },
  drivers: [
    {
      ...{ facet: 'host', value: 'pod-"of_all":7', share_of_slow: 0.7, share_of_all: 0.1 },
      ...{ baseline_share_of_all: 0.1, slow_rate: 0.4, slow_rate_of_others: 0.02 },
      ...{ baseline_slow_rate: 0.01, baseline_slow_rate_of_others: 0.02 },
    },
  ],
};

it('an anomaly that was stored before the names changed is read, shown and resolved', () =>
  withRig({ stack, name: 'renamed-events' }, async (rig) => {
    const store = new AnomalyStore(rig.client);
    const startMs = Math.floor(Date.now() / windowMs) * windowMs - 3_600_000;
    const at = new Date(startMs).toISOString();
    const times = { started_at: at, detected_at: at, emitted_at: at };
    const incident = anomalyFixture({ ...times, id: 'incident', quantile: 0.95 });
    const { evidence } = incident;
    const members = ['search', 'feed'].map((request_type, n) => {
      const id = n === 0 ? firstMemberIdOf(incident.id) : 'other';
      const dedup_key = n === 0 ? incident.dedup_key : 'tail_shift/ranker/8899aabbccddeeff';
      return { ...incident, id, request_type, incident_id: incident.id, dedup_key };
    });
    const rate = {
      ...{ unit: 'errors per request', observed: 0.1, baseline: 0.01, ratio: 10 },
      interval: [0.08, 0.12],
    } as AnomalyEvent['rate'];
    const over = { resolved_at: at, resolution: 'rebaselined' } as const;
    const burn = anomalyFixture({ ...times, ...over, id: 'burn', state: 'resolved', rate });
    const stored = [incident, ...members, burn];
    for (const event of stored) await store.add(event, startMs);

    const old = new Map<string, object>([
      [incident.id, { ...incident, ...before }],
      ['burn', { ...burn, rate: { ...rate, unit: 'bad per request' }, resolution: 'adopted' }],
      [
        'member-0',
        { ...members[1], evidence: { above_ms: 121.5, ...evidence, test: 'exceedances' } },
      ],
    ]);
    for (const [id, event] of old) {
      await rig.client.command({
        query: `ALTER TABLE anomalies UPDATE body = {body:String} WHERE id = {id:String}
                SETTINGS mutations_sync = 2`,
        query_params: { id, body: JSON.stringify(event) },
      });
    }
    await rig.client.command({
      query: 'DELETE FROM schema_migrations WHERE name = {migration:String}',
      query_params: { migration },
    });
    await expect(store.open()).rejects.toThrow('of_slow');

    const { exitCode, out } = await rig.cli(['migrate', '--json']);
    expect([exitCode, JSON.parse(out).applied]).toEqual([0, [migration]]);
    const open = await store.open();
    expect(open).toHaveLength(3);
    expect(open).toEqual(expect.arrayContaining([{ ...incident, ...now }, ...members]));

    const shown = async () => JSON.parse((await rig.cli(['anomalies', '--json'])).out).anomalies;
    expect(await shown()).toEqual(expect.arrayContaining([{ ...incident, ...now }, burn]));

    const detector = new Detector(detectOptions({ quantiles: [0.95, 0.99] }));
    detector.restore(open);
    const steps = Array.from({ length: 90 }, (_, n) => {
      const windowStartMs = startMs + n * windowMs;
      const nowMs = windowStartMs + windowMs;
      return { windows: [], startMs: windowStartMs, nowMs, isWhole: true };
    });
    for (const event of detector.observeAll(steps)) await store.add(event, startMs + windowMs);
    expect(await store.open()).toEqual([]);
    const resolution = 'no_traffic';
    const resolved = { id: incident.id, state: 'resolved', resolution };
    expect(await shown()).toContainEqual(expect.objectContaining(resolved));
  }));
