import { describe, expect, it } from 'vitest';
import type { Receiver } from '../../../src/alert/receiver.ts';
import type { Route } from '../../../src/alert/routing/route.ts';
import { dayMs, minuteMs } from '../../../src/base/time.ts';
import { AnomalyStore } from '../../../src/sink/anomalies/anomaly-store.ts';
import { DeliveryStore } from '../../../src/sink/anomalies/delivery-store.ts';
import { pipelineAnswer } from '../../../src/views/answers/pipeline.ts';
import { type PipelineQuestion, pipelineView } from '../../../src/views/pipeline/pipeline.ts';
import { useStack } from '../../containers/stack.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';
import { withRig } from '../kit/with-rig.ts';
import { paste, trafficOf } from './view-traffic.ts';

const stack = useStack();

function routeOf(name: string, severity: string): Route {
  const receiver: Receiver = {
    ...{ name, feed: 'state', wantsUpdates: false, wantsPast: false, showsRepeats: false },
    send: async () => ({ outcome: 'accepted', answer: 'ok' }),
    preview: () => [],
    close: async () => undefined,
  };
  const unmet: Route['unmet'] = (event) => (event.severity === severity ? undefined : 'severity');
  return { receiver, name, unmet, ignoresMutes: false };
}

describe('pipeline', () => {
  it('says what is stored, whether the ledger is exact, and what is due', () =>
    withRig({ stack, name: 'view-pipeline', partitions: 2 }, async (rig) => {
      const nowMs = Date.now();
      const groupId = rig.config.kafka.group_id;
      const ask = async (changed: Partial<PipelineQuestion> = {}) => {
        const answer = pipelineAnswer.parse(
          await pipelineView(rig.client, {
            ...{ nowMs: Date.now(), groupId, problems: [], series: undefined },
            bounds: { completeMs: Number.NEGATIVE_INFINITY, finalMs: Number.NEGATIVE_INFINITY },
            ...{ lagMessages: undefined, routes: [], giveUpAfterMs: dayMs },
            rejected: { byReason: new Map(), sinceMs: nowMs },
            ...changed,
          }),
        );
        const pasted = await paste<{ topic: string; stored_offset: number }>(rig, answer.sql);
        expect(pasted.map(({ topic, stored_offset }) => [topic, stored_offset])).toEqual(
          answer.partitions.map(({ topic, stored_offset }) => [topic, stored_offset]),
        );
        return answer;
      };
      expect(await ask()).toMatchObject({
        title: 'No event has arrived yet.',
        ...{ newest_window: null, age_seconds: null, partitions: [], deliveries: [] },
        detector: { evaluated_until: null, open_anomalies: 0 },
      });

      const sent = trafficOf({
        ...{ name: 'pipeline', model: 'ranker', version: 'v1', minutes: 1 },
        ...{ fromMs: nowMs - minuteMs, requests: 300 },
      });
      await rig.publish([
        ...sent.map(({ endMs, totalMs, stages }, n) => ({
          key: String(n),
          value: JSON.stringify({ ts: endMs - totalMs, model: 'ranker', stages_ms: stages }),
        })),
        ...['{', '{"model":"m"}', '{"ts":1}'].map((value, n) => ({ key: String(n), value })),
      ]);
      const pipeline = await rig.start(['ingest']);
      await rig.untilConsumed(303);
      await pipeline.stop();

      const completeMs = Math.floor(Date.now() / 10_000) * 10_000 - 7_000;
      const lagMessages = new Map([[`${rig.topic}/1`, 0]]);
      const sinceMs = nowMs - 10 * minuteMs;
      const rejected = { byReason: new Map([['bad_json', 1]]), sinceMs };
      const series = { evaluated: 3, waiting: 1 };
      const answer = await ask({
        ...{ nowMs: completeMs + 40_000, bounds: { completeMs, finalMs: 0 } },
        ...{ lagMessages, rejected, series },
        problems: ['a\nproblem'],
      });
      const newestMs = completeMs - 3_000;
      expect(answer).toMatchObject({
        ...{ title: 'Every event counted once. Stored up to 43 s ago.', age_seconds: 43 },
        newest_window: new Date(newestMs).toISOString(),
        stored_last_hour: {
          ...{ consumed: 303, aggregated: 300, late: 0 },
          rejected: [
            { reason: 'bad_json', events: 1 },
            { reason: 'unknown', events: 2 },
          ],
          ...{ rejected_events: 3, reasons_since: new Date(sinceMs).toISOString() },
        },
        ledger: { ok: true, problems: [] },
        detector: { open_anomalies: 0, series_evaluated: 3, series_waiting: 1 },
        problems: ['a problem'],
      });
      expect(answer.partitions.map(({ lag_messages }) => lag_messages)).toEqual([null, 0]);
      expect(answer.partitions[1]?.behind_seconds).toBe(0);
      expect(answer.partitions[0]?.behind_seconds).toBeGreaterThan(0);
      const stored = answer.partitions.reduce((sum, { stored_offset }) => sum + stored_offset, 0);
      expect(stored).toBe(303);

      // One anomaly is due at the pager, one was accepted, one does not match.
      const anomalies = new AnomalyStore(rig.client);
      const deliveries = new DeliveryStore(rig.client);
      await deliveries.load(['pager', 'chat'], 0);
      for (const id of ['due', 'accepted']) await anomalies.add(anomalyFixture({ id }));
      await anomalies.add(anomalyFixture({ id: 'other', severity: 'warning' }));
      // The first revision that is due says since when, as in metrics; a newer one replaces it.
      await anomalies.add(anomalyFixture({ id: 'due', revision: 2, state: 'updated' }));
      const [written] = await rig.rows<{ ms: string }>(
        "SELECT toUnixTimestamp64Milli(min(written_at)) AS ms FROM anomalies WHERE id = 'due'",
      );
      const askedMs = nowMs + 10 * minuteMs;
      await anomalies.setEvaluatedUntilMs(groupId, newestMs);
      await deliveries.add([
        {
          ...{ receiver: 'pager', id: 'accepted', revision: 1, attempt: 1, outcome: 'accepted' },
          ...{
            form: 'full',
            state: 'opened',
            severity: 'critical',
            answer: 'thanks',
            memory: '',
            mayHaveArrived: true,
          },
          atMs: nowMs,
        },
      ]);
      const routes = [routeOf('pager', 'critical'), routeOf('chat', 'info')];
      const due = await ask({ routes, nowMs: askedMs });
      expect(due.title).toMatch(/ 1 delivery is due\.$/);
      expect(due.detector).toMatchObject({
        ...{ open_anomalies: 3, evaluated_until: new Date(newestMs).toISOString() },
      });
      expect(due.deliveries).toEqual([
        {
          ...{ receiver: 'pager', due: 1 },
          oldest_due_seconds: (askedMs - Number(written?.ms)) / 1000,
          last_accepted_at: new Date(nowMs).toISOString(),
          last_answer: 'accepted: thanks',
        },
        {
          ...{ receiver: 'chat', due: 0, oldest_due_seconds: null },
          ...{ last_accepted_at: null, last_answer: '' },
        },
      ]);

      // A row of the ledger that no chunk has: a gap.
      await rig.client.command({
        query: `INSERT INTO flushes SELECT * REPLACE (start_offset + 1000 AS start_offset, end_offset + 1000 AS end_offset)
                FROM flushes LIMIT 1`,
      });
      const broken = await ask();
      expect(broken.ledger.ok).toBe(false);
      expect(broken.title).toMatch(/^The ledger has 1 problem: not every event counted once\./);
      expect(broken.ledger.problems[0]).toMatch(/offsets .* are in no chunk/);
      await rig.client.command({
        query: 'ALTER TABLE flushes DELETE WHERE start_offset >= 1000 SETTINGS mutations_sync = 2',
      });
    }));
});
