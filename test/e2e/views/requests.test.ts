import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../../src/base/time.ts';
import { StageTable } from '../../../src/contract/stage-table.ts';
import { requestsAnswer } from '../../../src/views/answers/requests.ts';
import { type RequestsQuestion, requestsView } from '../../../src/views/requests.ts';
import { UnknownName } from '../../../src/views/unknown-name.ts';
import { useStack } from '../../containers/stack.ts';
import { withRig } from '../kit/with-rig.ts';
import { lowerEdgeOf } from './composition-of.ts';
import { hostileModel, isWithin, paste, store, trafficOf } from './view-traffic.ts';

const stack = useStack();

describe('requests', () => {
  it('are the slowest, with stages and trace, beside those of the median and of p99', () =>
    withRig({ stack, name: 'view-requests' }, async (rig) => {
      const fromMs = Math.floor(Date.now() / minuteMs - 60) * minuteMs;
      const of = { fromMs, minutes: 10, version: 'v1' };
      const sent = trafficOf({ ...of, name: 'a', model: 'ranker', requests: 6_000 });
      const hostile = trafficOf({ ...of, name: 'b', model: hostileModel, requests: 100 });
      const cold = trafficOf({ ...of, name: 'c', model: 'ranker', requests: 60, cold: true });
      await store(rig, [...sent, ...hostile, ...cold]);
      const ask = async (changed: Partial<RequestsQuestion['filters']> = {}, stage = '') => {
        const fromSeconds = fromMs / 1000;
        const answer = requestsAnswer.parse(
          await requestsView(rig.client, {
            filters: {
              ...{ model: 'ranker', version: '', requestType: '', region: '', start: 'warm' },
              ...changed,
            },
            range: { fromSeconds, toSeconds: fromSeconds + 600, stepSeconds: 60, resolution: '1m' },
            bounds: { completeMs: 0, finalMs: 0 },
            ...{ stage, limit: 20, traceUrl: 'https://traces/t/{trace_id}?x' },
            stages: StageTable.standard,
          }),
        );
        const pasted = await paste<{ at_ms: number; total_ms: number }>(rig, answer.sql);
        expect(pasted.map(({ at_ms, total_ms }) => [at_ms, total_ms])).toEqual(
          answer.rows.map(({ at, total_ms }) => [Date.parse(at), total_ms]),
        );
        return answer;
      };

      const answer = await ask();
      const isFailed = ({ status }: { readonly status: string }) => status !== 'ok';
      const slowest = sent
        .filter((request) => !isFailed(request))
        .toSorted((a, b) => b.totalMs - a.totalMs)[0];
      // Failed requests have places of their own, after the others.
      expect(answer.rows.slice(0, 20).some(isFailed)).toBe(false);
      expect(answer.rows.slice(20).every(isFailed)).toBe(true);
      // As many as percentiles and shares count, whether they are kept or not.
      const sentWith = (status: string) => sent.filter((each) => each.status === status).length;
      expect(answer.failed).toEqual(
        ['error', 'timeout'].map((status) => ({ status, requests: sentWith(status) })),
      );
      // By a stage, those come first that took longest in it.
      const byQueue = (await ask({}, 'queue')).rows.slice(0, 20);
      const queueMs = byQueue.map(({ stages }) => stages.find((of) => of.stage === 'queue')?.ms);
      expect(byQueue.map(({ stage_ms }) => stage_ms)).toEqual(queueMs);
      expect(queueMs).toEqual(queueMs.toSorted((a = 0, b = 0) => b - a));
      expect(byQueue.map(({ total_ms }) => total_ms)).not.toEqual(
        answer.rows.slice(0, 20).map(({ total_ms }) => total_ms),
      );
      const byRest = (await ask({}, 'unaccounted')).rows[0];
      const stagesMs = byRest?.stages.reduce((sum, { ms }) => sum + ms, 0) ?? 0;
      expect(byRest?.stage_ms).toBeCloseTo((byRest?.total_ms ?? 0) - stagesMs, 6);
      expect(answer.windows).toEqual({ final: 0, provisional: 0, open: 1 });
      expect(answer.rows[0]).toMatchObject({
        ...{ total_ms: slowest?.totalMs, version: 'v1', region: slowest?.region, host: 'h1' },
        ...{ request_type: slowest?.requestType, status: slowest?.status, cold_start: false },
        trace_id: slowest?.traceId,
        trace_url: `https://traces/t/${encodeURIComponent(slowest?.traceId ?? '')}?x`,
      });
      for (const row of answer.rows) {
        const raw = sent.find(({ traceId }) => traceId === row.trace_id);
        expect(row.total_ms).toBe(raw?.totalMs);
        expect(Object.fromEntries(row.stages.map(({ stage, ms }) => [stage, ms]))).toEqual(
          raw?.stages,
        );
        const names = row.stages.map(({ stage }) => stage);
        expect(names).toEqual(['queue', 'features', 'forward'].filter((at) => names.includes(at)));
      }

      const sorted = sent.toSorted((a, b) => a.totalMs - b.totalMs);
      for (const { q, total_ms, stages } of answer.typical) {
        const edge = lowerEdgeOf(sorted[Math.ceil(q * sorted.length) - 1]?.totalMs ?? 0);
        const band = sent.filter(({ totalMs }) => lowerEdgeOf(totalMs) === edge);
        const mean = (use: (request: (typeof sent)[number]) => number) =>
          band.reduce((sum, request) => sum + use(request), 0) / band.length;
        expect(
          isWithin(
            5e-4,
            total_ms ?? 0,
            mean(({ totalMs }) => totalMs),
          ),
        ).toBe(true);
        for (const { stage, ms } of stages) {
          const expected = mean(
            (request) => (request.stages as Record<string, number>)[stage] ?? 0,
          );
          expect(isWithin(5e-4, ms, expected)).toBe(true);
        }
      }
      expect(answer.typical.map(({ q }) => q)).toEqual([0.5, 0.99]);

      expect((await ask({ start: 'cold' })).rows.every(({ cold_start }) => cold_start)).toBe(true);
      expect((await ask({ model: hostileModel })).rows[0]?.total_ms).toBe(
        Math.max(...hostile.map(({ totalMs }) => totalMs)),
      );
      const none = await ask({ version: 'none' });
      expect(none.rows).toEqual([]);
      await expect(ask({ model: 'none' })).rejects.toThrow(UnknownName);
      expect(none.typical).toEqual(
        [0.5, 0.99].map((q) => ({ q, total_ms: null, stages: [], milestones: [] })),
      );
    }));
});
