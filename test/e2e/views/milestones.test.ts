import { describe, expect, it } from 'vitest';
import { facets } from '../../../src/base/facets.ts';
import { StageTable } from '../../../src/contract/stage-table.ts';
import { compositionView } from '../../../src/views/composition.ts';
import { facetsView } from '../../../src/views/facets.ts';
import type { Question } from '../../../src/views/question.ts';
import { requestsView } from '../../../src/views/requests.ts';
import { tailsView } from '../../../src/views/tails.ts';
import { useStack } from '../../containers/stack.ts';
import { withRig } from '../kit/with-rig.ts';
import { isWithin, paste, store, trafficOf } from './view-traffic.ts';

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
        const { rows } = await compositionView(rig.client, {
          ...common,
          ...{ isStepped: false, stage: 'total', stages },
        });
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
      for (const { input_tokens, output_tokens } of rows) {
        expect([input_tokens, output_tokens]).toEqual([null, 11]);
      }

      // A milestone is made of the parts before it, in all requests.
      const before = new StageTable({ first_token: { parts: ['queue'] } });
      const made = await compositionView(rig.client, {
        ...common,
        ...{ isStepped: false, stage: 'first_token', stages: before },
      });
      const queueMs = sent.reduce((sum, { stages }) => sum + stages.scored, 0) / sent.length;
      expect(made.rows).toHaveLength(1);
      const kinds = made.stages.map(({ stage, kind }) => [stage, kind]);
      expect(Object.fromEntries(kinds)).toEqual({
        ...{ queue: 'part', forward: 'part', features: 'part', scored: 'part' },
        ...{ first_token: 'milestone', time_per_output_token: 'measure' },
      });
      const [all] = made.rows;
      expect(all).toMatchObject({ from_share: 0, to_share: 1, requests: sent.length });
      expect(isWithin(1e-4, all?.mean_ms ?? 0, queueMs + 1)).toBe(true);
      expect(all?.parts.map(({ stage }) => stage)).toEqual(['queue', 'unaccounted']);
      expect(isWithin(1e-4, all?.parts[0]?.mean_ms ?? 0, queueMs)).toBe(true);
      const pasted = await paste<{ mean_ms: number }>(rig, made.sql);
      expect(pasted.map(({ mean_ms }) => mean_ms)).toEqual([all?.mean_ms]);
      const steps = await compositionView(rig.client, {
        ...common,
        ...{ isStepped: true, stage: 'first_token', stages: before },
      });
      expect(steps.rows.reduce((sum, row) => sum + row.requests, 0)).toBe(sent.length);

      // Of 11 tokens it is known that they are 8 to 15.
      const { tokens } = await facetsView(rig.client, {
        ...{ ...common, facets: [...facets], quantiles: [0.5] },
      });
      const perSecond = sent.length / 600;
      expect(tokens).toEqual([
        {
          facet: 'output_tokens',
          per_second: 11.5 * perSecond,
          low_per_second: 8 * perSecond,
          high_per_second: 15 * perSecond,
        },
      ]);

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
