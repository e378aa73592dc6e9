import { describe, expect, it } from 'vitest';
import { dayMs, minuteMs } from '../../../src/base/time.ts';
import { StageTable } from '../../../src/contract/stage-table.ts';
import { compareAnswer } from '../../../src/views/answers/compare.ts';
import { type CompareQuestion, compareView } from '../../../src/views/comparison/compare.ts';
import { ImpossibleQuestion } from '../../../src/views/impossible-question.ts';
import type { Filters } from '../../../src/views/question.ts';
import { UnknownName } from '../../../src/views/unknown-name.ts';
import { useStack } from '../../containers/stack.ts';
import { withRig } from '../kit/with-rig.ts';
import {
  hostileModel,
  isWithin,
  paste,
  type SentRequest,
  store,
  trafficOf,
} from './view-traffic.ts';

const stack = useStack();
const levels = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

/** The value that a share of the weights does not exceed. */
function quantileOf(values: readonly (readonly [ms: number, weight: number])[], q: number) {
  const sorted = values.toSorted(([a], [b]) => a - b);
  const all = sorted.reduce((sum, [, weight]) => sum + weight, 0);
  let reached = 0;
  for (const [ms, weight] of sorted) {
    reached += weight;
    if (reached >= q * all) return ms;
  }
  return Number.NaN;
}

describe('compare', () => {
  it('says of two versions, and of two ranges, whether B is worse, where, and by which requests', () =>
    withRig({ stack, name: 'view-compare' }, async (rig) => {
      const fromMs = Math.floor(Date.now() / minuteMs - 60) * minuteMs;
      const minutes = 20;
      const traffic = (version: string, more: Partial<Parameters<typeof trafficOf>[0]> = {}) =>
        trafficOf({
          ...{ name: version, model: 'ranker', version, fromMs, requests: 6_000, minutes },
          ...more,
        });
      const v1 = traffic('v1');
      const slow = traffic('slow', { queueFactor: 2 });
      const more = traffic('more', { rank: { every: 2, factor: 3 } });
      const few = traffic('few', { rank: { every: 4, factor: 3 } });
      const yesterday = traffic('v1', { name: 'yesterday', fromMs: fromMs - dayMs });
      const hostile = ['a', hostileModel].flatMap((version) =>
        traffic(version, { model: hostileModel, requests: 1_200 }),
      );
      await store(rig, [...yesterday, ...v1, ...slow, ...more, ...few, ...hostile]);
      const filters: Filters = {
        ...{ model: 'ranker', version: '', requestType: '', region: '', start: 'warm' },
      };
      const range = { fromMs, toMs: fromMs + minutes * minuteMs };
      const ask = async (a: string, b: string, changed: Partial<CompareQuestion> = {}) => {
        const answer = compareAnswer.parse(
          await compareView(rig.client, {
            ...{ filters, a: { ...range, version: a }, b: { ...range, version: b } },
            ...{ bounds: { completeMs: Number.POSITIVE_INFINITY, finalMs: 0 }, minutesFromMs: 0 },
            ...{
              margin: {},
              stages: StageTable.standard,
              objectives: [],
              incident: '',
              nowMs: Date.now(),
            },
            ...changed,
          }),
        );
        type Row = { side: string; stage: string; requests: number; quantiles_ms: number[] };
        const pasted = await paste<Row>(rig, answer.sql);
        for (const side of ['a', 'b'] as const) {
          const total = pasted.find((row) => row.side === side && row.stage === 'total');
          expect(total?.requests ?? 0).toBe(answer[side].requests);
          for (const [i, each] of answer.quantiles.entries()) {
            const ms = each[side === 'a' ? 'a_ms' : 'b_ms'];
            const shown = total?.quantiles_ms[i] ?? 0;
            expect({ ...each, shown, ok: isWithin(1e-3, ms ?? 0, shown) }).toMatchObject({
              ok: true,
            });
          }
        }
        return answer;
      };

      const fail = await ask('v1', 'slow');
      expect(fail).toMatchObject({ verdict: 'fail', missing_requests: 0, mix: [] });
      expect(fail.title).toMatch(
        /^B is worse at p50 \(\+\d+ %, \d+ to \d+\), p95 \(.*\), p99 \(.*\): fail$/,
      );
      expect(fail.reason).toMatch(
        /^p99 is .* times that of A \(.*\); queue explains \d+ % of its rise/,
      );
      expect(fail.like_with_like).toBeNull();
      expect(fail.a).toMatchObject({ label: 'v1', version: 'v1', requests: 6_000 });
      expect(fail.b).toMatchObject({ label: 'slow', failed_share: 0.02 });
      expect(fail.quantiles.map(({ q }) => q)).toEqual(levels);
      for (const { q, a_ms, b_ms, ratio, ratio_low, ratio_high } of fail.quantiles) {
        const of = (sent: readonly SentRequest[]) =>
          quantileOf(
            sent.map(({ totalMs }) => [totalMs, 1]),
            q,
          );
        // Ten requests lie beyond p99.9: between two of them is a gap.
        const part = q > 0.99 ? 0.05 : 0.01;
        expect({ q, ok: isWithin(part, a_ms ?? 0, of(v1)) }).toEqual({ q, ok: true });
        expect({ q, ok: isWithin(part, b_ms ?? 0, of(slow)) }).toEqual({ q, ok: true });
        expect((ratio_low ?? 0) <= (ratio ?? 0) && (ratio ?? 0) <= (ratio_high ?? 1e9)).toBe(true);
      }
      const median = fail.quantiles.find(({ q }) => q === 0.5);
      expect(median?.ratio_low).toBeGreaterThan(1.1);
      expect(fail.stages[0]).toMatchObject({ stage: 'queue' });
      expect(fail.stages[0]?.share_of_excess).toBeGreaterThan(0.8);
      expect(fail.stages[0]?.quantiles.map(({ q }) => q)).toEqual([0.5, 0.95, 0.99]);

      // Of ranges the first block of A is compared with the first one of B.
      const before = { fromMs: fromMs - dayMs, toMs: range.toMs - dayMs, version: 'v1' };
      const days = await ask('', '', { a: before, b: { ...range, version: 'v1' } });
      expect(days.verdict).toBe('pass');
      expect(days.title).toMatch(/^(No difference|B is) .*: pass$/);
      expect(days.a.label).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d to .* UTC$/);
      expect([days.a.requests, days.b.requests]).toEqual([6_000, 6_000]);

      const mixed = await ask('few', 'more');
      expect(mixed.mix).toEqual([
        'request type rank: 50 % of B, 25 % of A.',
        'request type search: 50 % of B, 75 % of A.',
      ]);
      for (const { q, b_ms } of mixed.like_with_like ?? []) {
        const weight = (request: SentRequest) => (request.requestType === 'rank' ? 0.5 : 1.5);
        const values = more.map((request) => [request.totalMs, weight(request)] as const);
        const part = q > 0.99 ? 0.05 : 0.02;
        expect({ q, ok: isWithin(part, b_ms ?? 0, quantileOf(values, q)) }).toEqual({
          q,
          ok: true,
        });
      }
      expect(mixed.like_with_like?.length).toBe(levels.length);

      const early = await ask('v1', 'slow', {
        bounds: { completeMs: fromMs + 2.5 * minuteMs, finalMs: 0 },
      });
      expect(early).toMatchObject({ verdict: 'inconclusive', a: { requests: 600 } });
      expect(early.title).toMatch(/; a verdict needs about [\d,]+ more requests$/);

      // What an incident asks: minutes that are over, against as many before.
      const during = { version: '', fromMs: fromMs + 4 * minuteMs, toMs: fromMs + 8 * minuteMs };
      const past = await ask('', '', {
        a: { version: '', fromMs, toMs: fromMs + 4 * minuteMs },
        b: during,
      });
      expect(past).toMatchObject({
        ...{ verdict: 'inconclusive', missing_requests: 0 },
        reason:
          'too short for a release verdict: 4 minutes have requests of both, and it takes at least 6',
      });
      expect(past.title).toMatch(
        /^B against A, as measured: p50 \(.*\), p95 \(.*\), p99 \(.*\); too short for a release verdict$/,
      );

      const strange = await ask('a', hostileModel, {
        filters: { ...filters, model: hostileModel },
      });
      expect(strange.b.requests).toBe(1_200);
      const none = await ask('v1', 'none');
      expect(none).toMatchObject({ verdict: 'inconclusive', b: { requests: 0 } });
      expect(none.title).toMatch(/^Nothing to compare/);

      await expect(ask('v1', 'v1')).rejects.toThrow(ImpossibleQuestion);
      await expect(
        ask('v1', 'slow', { b: { version: 'slow', fromMs, toMs: fromMs } }),
      ).rejects.toThrow(ImpossibleQuestion);
      await expect(ask('a', 'b', { filters: { ...filters, model: 'none' } })).rejects.toThrow(
        UnknownName,
      );
    }));
});
