import { describe, expect, it } from 'vitest';
import { StageTable } from '../../../src/contract/stage-table.ts';
import { compositionView } from '../../../src/views/composition.ts';
import type { Question } from '../../../src/views/question.ts';
import { requestsView } from '../../../src/views/requests.ts';
import { tailsView } from '../../../src/views/tails.ts';
import { useStack } from '../../containers/stack.ts';
import { withRig } from '../kit/with-rig.ts';
import { store, trafficOf } from './view-traffic.ts';

const stack = useStack();
const minuteMs = 60_000;

describe('milestones and measures', () => {
  it('are parts of no composition, and milestones stand beside the parts of a request', () =>
    withRig({ stack, name: 'view-milestones' }, async (rig) => {
      const fromMs = Math.floor(Date.now() / minuteMs - 30) * minuteMs;
      const of = { name: 'llm', model: 'llm', version: 'v1', fromMs, requests: 2_000, minutes: 10 };
      const sent = trafficOf(of).map((request) => {
        const { queue = 0 } = request.stages;
        const stages = { ...request.stages, first_token: queue + 1, scored: queue };
        return { ...request, stages, outputTokens: 11 };
      });
      await store(rig, sent);
      const fromSeconds = fromMs / 1000;
      const common: Question = {
        filters: { model: 'llm', version: '', requestType: '', region: '', start: 'warm' },
        range: { fromSeconds, toSeconds: fromSeconds + 600, stepSeconds: 60, resolution: '1m' },
        bounds: { completeMs: 0, finalMs: 0 },
      };
      const ask = async (stages: StageTable) => {
        const { rows } = await compositionView(rig.client, { ...common, isStepped: false, stages });
        const names = new Set(rows.flatMap(({ parts }) => parts.map(({ stage }) => stage)));
        for (const { parts, mean_ms } of rows) {
          const sum = parts.reduce((total, part) => total + part.mean_ms, 0);
          expect(Math.abs(sum / (mean_ms ?? 0) - 1)).toBeLessThan(1e-9);
        }
        expect(names).not.toContain('time_per_output_token');
        return [...names];
      };
      expect(await ask(StageTable.standard)).not.toContain('first_token');
      expect(await ask(StageTable.standard)).toContain('scored');
      const configured = new StageTable({ scored: { milestone: true } });
      expect(await ask(configured)).not.toContain('scored');
      const none = new StageTable({ first_token: { milestone: false } });
      expect(await ask(none)).toContain('first_token');

      const { rows, typical } = await requestsView(rig.client, {
        ...common,
        ...{ limit: 5, stage: 'unaccounted', traceUrl: undefined, stages: configured },
      });
      for (const { stages, milestones, total_ms, stage_ms } of rows) {
        expect(milestones.map(({ stage }) => stage)).toEqual(['scored', 'first_token']);
        const parts = stages.reduce((total, { ms }) => total + ms, 0);
        expect(stage_ms).toBeCloseTo(total_ms - parts, 2);
      }
      expect(typical.map(({ milestones }) => milestones.length)).toEqual([2, 2]);

      const perTokenMs = sent
        .map(({ totalMs, stages: { first_token = 0 } }) => (totalMs - first_token) / 10)
        .toSorted((a, b) => b - a);
      const { rows: slowest } = await requestsView(rig.client, {
        ...common,
        ...{ limit: 3, stage: 'time_per_output_token', traceUrl: undefined, stages: configured },
      });
      expect(slowest[0]?.stage_ms).toBeGreaterThan(perTokenMs[20] as number);
      const tails = await tailsView(rig.client, {
        ...common,
        ...{ by: 'stage', stage: '', quantiles: [0.5, 0.99] },
      });
      const tail = tails.rows.find(({ by }) => by === 'time_per_output_token');
      expect(tail?.requests).toBe(sent.length);
      const p50Ms = perTokenMs[sent.length / 2] as number;
      expect(Math.abs((tail?.quantiles[0]?.ms ?? 0) / p50Ms - 1)).toBeLessThan(0.02);
    }));
});
