import { describe, expect, it } from 'vitest';
import { dayMs, minuteMs } from '../../../src/base/time.ts';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { scopeMember } from '../../../src/contract/scope-member.ts';
import { AnomalyStore } from '../../../src/sink/anomalies/anomaly-store.ts';
import { DeliveryStore } from '../../../src/sink/anomalies/delivery-store.ts';
import { type AnomaliesQuestion, anomaliesView } from '../../../src/views/anomalies/anomalies.ts';
import { anomalyView } from '../../../src/views/anomalies/anomaly.ts';
import { anomaliesAnswer, anomalyAnswer } from '../../../src/views/answers/anomalies.ts';
import { UnknownName } from '../../../src/views/unknown-name.ts';
import { useStack } from '../../containers/stack.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';
import type { Rig } from '../kit/rig.ts';
import { withRig } from '../kit/with-rig.ts';
import { lowerEdgeOf } from './composition-of.ts';
import { hostileModel, paste, store, trafficOf } from './view-traffic.ts';

const stack = useStack();
const iso = (ms: number) => new Date(ms).toISOString();
const idOf = (n: number) => n.toString(16).padStart(32, '0');

async function list(rig: Rig, changed: Partial<AnomaliesQuestion> = {}) {
  const nowMs = Date.now();
  const answer = anomaliesAnswer.parse(
    await anomaliesView(rig.client, {
      ...{ fromMs: nowMs - dayMs, toMs: nowMs, model: '', state: '', limit: 50, cursor: '' },
      bounds: { completeMs: 0, finalMs: 0 },
      ...changed,
    }),
  );
  const pasted = await paste<{ id: string; series: number; accepted_by: string[] }>(
    rig,
    answer.sql,
  );
  expect(pasted.map(({ id, series, accepted_by }) => ({ id, series, accepted_by }))).toEqual(
    answer.rows.map(({ id, series, accepted_by }) => ({ id, series, accepted_by })),
  );
  return answer;
}

describe('anomalies', () => {
  it('are listed as they stand, page by page, with their titles and who accepted them', () =>
    withRig({ stack, name: 'view-anomalies' }, async (rig) => {
      const anomalies = new AnomalyStore(rig.client);
      const nowMs = Date.now();
      const startOf = (n: number) => nowMs - 3_600_000 - n * minuteMs;
      const add = (n: number, changed: Partial<AnomalyEvent> = {}) => {
        const at = iso(startOf(n));
        const times = { started_at: at, detected_at: at, emitted_at: at };
        return anomalies.add(anomalyFixture({ id: idOf(n), ...times, ...changed }));
      };
      for (let n = 0; n < 12; n++) await add(n);
      // Two of one time; one that is part of another one; one of the day before; one that has ended then.
      await add(12, { started_at: iso(startOf(11)), model: hostileModel });
      await add(13, { incident_id: idOf(3), model: 'part' });
      await add(14, { started_at: iso(nowMs - 2 * dayMs) });
      await add(15, {
        ...{ started_at: iso(nowMs - 2 * dayMs), state: 'resolved', resolution: 'recovered' },
        resolved_at: iso(nowMs - 2 * dayMs + minuteMs),
      });
      await add(2, {
        ...{ revision: 2, state: 'resolved', resolution: 'recovered', resolved_at: iso(nowMs) },
        ...{ emitted_at: iso(nowMs), summary: 'p99 of ranker recovered' },
        ...{ observed_ms: 125, ratio: 125 / 121 },
      });
      const row = { receiver: 'pager', revision: 1, attempt: 1, form: 'full', answer: 'ok' };
      const opened = {
        state: 'opened',
        severity: 'critical',
        memory: '',
        mayHaveArrived: true,
        atMs: nowMs,
      } as const;
      const deliveries = new DeliveryStore(rig.client);
      await deliveries.add([
        { ...row, ...opened, id: idOf(0), outcome: 'accepted' },
        { ...row, ...opened, id: idOf(0), receiver: 'chat', outcome: 'rejected' },
        { ...row, ...opened, id: idOf(1), outcome: 'failed' },
        { ...row, ...opened, id: idOf(2), revision: 2, state: 'resolved', outcome: 'accepted' },
      ]);

      const all = await list(rig);
      const expected = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 11, 14].map(idOf);
      expect(all.rows.map(({ id }) => id)).toEqual(expected);
      expect(all.next).toBeNull();
      expect(all.rows[0]).toMatchObject({ accepted_by: ['pager'], series: 1, state: 'opened' });
      expect(all.rows[1]).toMatchObject({ accepted_by: [], resolved_at: null });
      expect(all.rows[2]).toMatchObject({ state: 'resolved', accepted_by: [] });
      expect(all.rows[0]?.title).toMatch(
        /^CRITICAL ranker \(eu-west-1\) p99 .* since \d\d:\d\d UTC$/,
      );
      expect(all.rows[2]?.title).toMatch(/^RESOLVED ranker \(eu-west-1\) /);
      // What it was, also after its end.
      expect(all.rows[2]?.headline).toBe(all.rows[0]?.headline);
      expect(all.rows[2]?.headline).toBe(
        'ranker (eu-west-1) p99 412 ms, 3.4x its baseline, blame features',
      );
      expect(all.rows[11]).toMatchObject({ model: hostileModel });
      expect(all.rows[11]?.title).not.toMatch(/\n|\u202e/);

      const pages: string[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const page: Awaited<ReturnType<typeof list>> = await list(rig, { limit: 5, cursor });
        pages.push(...page.rows.map(({ id }) => id));
        cursor = page.next;
        // What opens meanwhile is on no later page.
        await add(100 + pages.length, { started_at: iso(nowMs - 1) });
      }
      expect(pages).toEqual(expected);
      await expect(list(rig, { cursor: 'x' })).rejects.toThrow(/cursor must be "next"/);

      const ids = async (changed: Partial<AnomaliesQuestion>) =>
        (await list(rig, changed)).rows.map(({ id }) => id);
      expect(await ids({ state: 'resolved' })).toEqual([idOf(2)]);
      expect(await ids({ model: hostileModel })).toEqual([idOf(12)]);
      expect(await ids({ model: 'part' })).toEqual([idOf(3)]);
      expect(await ids({ model: "' OR 1 = 1 --" })).toEqual([]);
    }));

  it('by id have facts, history with deliveries, distribution and evidence', () =>
    withRig({ stack, name: 'view-anomaly' }, async (rig) => {
      const nowMs = Date.now();
      const startMs = Math.floor(nowMs / minuteMs - 30) * minuteMs;
      const of = { model: hostileModel, version: 'v1', minutes: 20 };
      const series = { request_type: 'search', region: 'eu-west-1' };
      const before = trafficOf({
        ...{ ...of, name: 'before', fromMs: startMs - 60 * minuteMs, requests: 2_000 },
      });
      const during = trafficOf({
        ...{ ...of, name: 'during', fromMs: startMs, requests: 1_000, queueFactor: 4 },
      });
      await store(rig, [...before, ...during]);
      const event = anomalyFixture({
        ...{ model: hostileModel, version: 'v1', ...series },
        ...{ started_at: iso(startMs), detected_at: iso(startMs), emitted_at: iso(startMs + 1) },
        evidence: {
          ...anomalyFixture().evidence,
          baseline_from: iso(startMs - 60 * minuteMs),
          baseline_to: iso(startMs),
        },
      });
      const anomalies = new AnomalyStore(rig.client);
      await anomalies.add(event);
      await anomalies.add({
        ...event,
        ...{ revision: 2, state: 'updated', emitted_at: iso(startMs + 3 * minuteMs) },
        summary: `${hostileModel} is slower`,
      });
      const row = {
        id: event.id,
        form: 'full',
        memory: '',
        mayHaveArrived: true,
        severity: 'critical',
      } as const;
      await new DeliveryStore(rig.client).add([
        {
          ...{ ...row, receiver: 'pager', revision: 1, attempt: 1, state: 'opened' },
          ...{ outcome: 'failed', answer: 'time-out', atMs: startMs + minuteMs },
        },
        {
          ...{ ...row, receiver: 'pager', revision: 1, attempt: 2, state: 'opened' },
          ...{ outcome: 'accepted', answer: 'ok', atMs: startMs + 2 * minuteMs },
        },
        {
          ...{ ...row, receiver: 'chat', revision: 2, attempt: 1, state: 'updated' },
          ...{ outcome: 'rejected', answer: 'no\nchannel', atMs: startMs + 4 * minuteMs },
        },
      ]);
      const { retention } = rig.config.clickhouse;
      const found = await anomalyView(rig.client, { id: event.id, nowMs, retention });
      const answer = anomalyAnswer.parse(found);
      expect(answer.event.revision).toBe(2);
      expect(answer.title).toMatch(/^CRITICAL a'b/);
      expect(answer.facts[0]?.label).toBe('What');
      expect(answer.series_count).toBe(1);
      expect(answer.history.map(({ what }) => what)).toEqual([
        ...['opened', 'delivery', 'updated', 'delivery'],
      ]);
      expect(answer.history.map(({ text }) => text)).toEqual([
        ...['p99 of ranker is slow', 'pager accepted the opening after 2 attempts'],
        expect.stringMatching(/is slower$/),
        'chat rejected an update: no channel',
      ]);
      expect(answer.history.every(({ text }) => !text.includes('\n'))).toBe(true);
      expect(answer.evidence[0]).toMatch(
        /^140 of 1,200 requests were slower than the slowest 1 % of normal, 121 ms; 12 were expected/,
      );
      expect(answer.dashboard).toMatchObject({
        ...{ measured_stage: 'total', quantile: 0.99, baseline_ms: 121 },
        from: iso(startMs - 10 * minuteMs),
      });

      const countOf = (sent: typeof before) => {
        const counts = new Map<number, number>();
        for (const { requestType, region, totalMs } of sent) {
          if (requestType !== series.request_type || region !== series.region) continue;
          const edge = lowerEdgeOf(totalMs);
          counts.set(edge, (counts.get(edge) ?? 0) + 1);
        }
        return counts;
      };
      const [was, is] = [countOf(before), countOf(during)];
      expect(answer.distribution).toEqual(
        [...new Set([...was.keys(), ...is.keys()])]
          .sort((a, b) => a - b)
          .map((from_ms) => ({
            ...{ from_ms, before: was.get(from_ms) ?? 0, during: is.get(from_ms) ?? 0 },
          })),
      );

      // Of an incident all members count, of a whole model all series.
      const sumOf = (rows: typeof answer.distribution) =>
        rows.reduce((sum, each) => sum + each.during, 0);
      const ask = async (id: string) =>
        anomalyAnswer.parse(await anomalyView(rig.client, { id, nowMs, retention }));
      for (const [n, region] of ['eu-west-1', 'us-east-1'].entries()) {
        await anomalies.add({ ...event, id: idOf(50 + n), incident_id: idOf(60), region });
      }
      await anomalies.add({ ...event, id: idOf(60) });
      await anomalies.add({
        ...{ ...event, id: idOf(61), kind: 'no_data', version: '', region: '', request_type: '' },
        rate: {
          ...{ unit: 'requests per second', observed: 0, baseline: 2, ratio: 0 },
          interval: [0, 0.1],
        },
      });
      const incident = await ask(idOf(60));
      expect(incident.series_count).toBe(2);
      expect(incident.series_title).toBe(
        '1 series affected at the last update, 2 now, 2 not recovered',
      );
      expect(incident.series.map(({ region }) => region).sort()).toEqual([
        'eu-west-1',
        'us-east-1',
      ]);
      expect(sumOf(incident.distribution)).toBe(750);
      expect(sumOf((await ask(idOf(61))).distribution)).toBe(1_000);

      // Its end has more series than the update before: title and evidence are both of the end.
      const scope = { affected: 2, unresolved: 2, total: 6, common: [], values: [] };
      const grown = { ...scope, affected: 4, unresolved: 0, total: 7 };
      const membersAt = (ratio: number) => [
        scopeMember({ ...event, ratio, observed_ms: 121 * ratio, region: 'us-east-1' }),
        scopeMember(event),
      ];
      const ofSeveral = { ...event, id: idOf(62), region: 'eu-west-1' };
      await anomalies.add({ ...ofSeveral, scope, members: membersAt(2.7) });
      await anomalies.add({
        ...{ ...ofSeveral, revision: 2, state: 'resolved', resolution: 'recovered' },
        ...{ scope: grown, members: membersAt(3.1), resolved_at: iso(nowMs) },
      });
      const end = await ask(idOf(62));
      const headline = /, most affected: p99 375 ms, 3\.1x its baseline, .*; 4 of 7 series$/;
      expect(end.headline).toMatch(headline);
      expect(end.evidence[1]).toMatch(/^p99: 375 ms .*, 3\.1x its baseline/);
      const listed = (await list(rig)).rows.find(({ id }) => id === idOf(62));
      expect(listed?.headline).toBe(end.headline);
      expect(listed?.tail?.ratio).toBe(3.1);

      // What it was, also after its end.
      await anomalies.add({
        ...{ ...event, revision: 3, state: 'resolved', resolution: 'recovered' },
        ...{ observed_ms: 125, ratio: 125 / 121, resolved_at: iso(nowMs), emitted_at: iso(nowMs) },
      });
      const ended = await ask(event.id);
      expect(ended.event.state).toBe('resolved');
      expect(ended.headline).toBe(answer.headline);
      expect(ended.headline).toMatch(/ p99 412 ms, 3\.4x its baseline, blame features$/);

      for (const id of ['', 'none', "' OR 1 = 1 --", '0']) {
        await expect(ask(id)).rejects.toThrow(UnknownName);
      }
    }));
});
