import { describe, expect, it } from 'vitest';
import { dayMs, hourMs, minuteMs } from '../../../src/base/time.ts';
import { StageTable } from '../../../src/contract/stage-table.ts';
import { compositionAnswer, type SliceRow } from '../../../src/views/answers/composition.ts';
import { type CompositionQuestion, compositionView } from '../../../src/views/composition.ts';
import type { Filters } from '../../../src/views/question.ts';
import { UnknownName } from '../../../src/views/unknown-name.ts';
import { useStack } from '../../containers/stack.ts';
import type { Rig } from '../kit/rig.ts';
import { withRig } from '../kit/with-rig.ts';
import { compositionOf, type RawSlice } from './composition-of.ts';
import {
  hostileModel,
  isWithin,
  paste,
  type SentRequest,
  store,
  trafficOf,
} from './view-traffic.ts';

const stack = useStack();
const cuts = [0.5, 0.9, 0.95, 0.99, 0.999];

interface Asked extends Partial<Filters> {
  readonly stepSeconds?: number;
}

function question(fromMs: number, { stepSeconds, ...changed }: Asked = {}): CompositionQuestion {
  const fromSeconds = fromMs / 1000;
  return {
    filters: {
      ...{ model: 'ranker', version: '', requestType: '', region: '', start: 'warm' },
      ...changed,
    },
    range: {
      ...{ fromSeconds, toSeconds: fromSeconds + 1_800, resolution: '10s' },
      stepSeconds: stepSeconds ?? 10,
    },
    isStepped: stepSeconds !== undefined,
    stage: 'total',
    stages: StageTable.standard,
    bounds: { completeMs: Number.POSITIVE_INFINITY, finalMs: Number.NEGATIVE_INFINITY },
  };
}

async function ask(rig: Rig, asked: CompositionQuestion) {
  const answer = compositionAnswer.parse(await compositionView(rig.client, asked));
  const pasted = await paste<Omit<SliceRow, 'parts'> & { parts: [string, number][] }>(
    rig,
    answer.sql,
  );
  const shown = pasted.map(({ from_share, to_share, requests, mean_ms, parts }) => ({
    ...{ from_share, to_share, requests, mean_ms },
    parts: parts.map(([stage, ms]) => ({ stage, mean_ms: ms })),
  }));
  expect(shown).toEqual(
    answer.rows.map(({ from_share, to_share, requests, mean_ms, parts }) => ({
      ...{ from_share, to_share, requests, mean_ms, parts },
    })),
  );
  return answer;
}

/**
 * Expects each number within 0.01 % of that of the requests themselves. Sums of each window are stored within
 * 0.05 %, which a mean of many requests averages out.
 */
function expectSlices(rows: readonly SliceRow[], expected: readonly RawSlice[]): void {
  expect(rows.map(({ requests }) => requests)).toEqual(expected.map(({ requests }) => requests));
  for (const [i, row] of rows.entries()) {
    const raw = expected[i] as RawSlice;
    expect([row.above_ms, row.below_ms]).toEqual([raw.aboveMs, raw.belowMs]);
    expect(row.from_share).toBeCloseTo(raw.fromShare, 12);
    expect(row.to_share).toBeCloseTo(raw.toShare, 12);
    const part = raw.requests >= 100 ? 1e-4 : 5e-4;
    expect(isWithin(part, row.mean_ms ?? 0, raw.meanMs)).toBe(true);
    const parts = new Map(row.parts.map(({ stage, mean_ms }) => [stage, mean_ms]));
    for (const [stage, ms] of raw.parts) {
      expect({ stage, ok: isWithin(part, parts.get(stage) ?? 0, ms) }).toEqual({ stage, ok: true });
    }
    const measured = [...raw.parts.values()].reduce((sum, ms) => sum + ms, 0);
    const rest = parts.get('unaccounted') ?? 0;
    expect(Math.abs(rest - (raw.meanMs - measured))).toBeLessThan(2 * part * raw.meanMs);
    const sum = row.parts.reduce((total, { mean_ms }) => total + mean_ms, 0);
    expect(isWithin(1e-9, sum, row.mean_ms ?? 0)).toBe(true);
  }
}

describe('composition', () => {
  it('is that of the raw requests, whole, filtered, over time, and before', () =>
    withRig({ stack, name: 'view-composition' }, async (rig) => {
      const fromMs = Math.floor(Date.now() / hourMs - 2) * hourMs;
      const traffic = (name: string, more: Partial<Parameters<typeof trafficOf>[0]> = {}) =>
        trafficOf({
          ...{ name, model: 'ranker', version: 'v1', fromMs, requests: 16_000, minutes: 30 },
          ...more,
        });
      const now = [
        ...traffic('v1'),
        ...traffic('v2', { version: 'v2', queueFactor: 3, requests: 14_000 }),
      ];
      const before = [1, 2, 6, 7].flatMap((day) =>
        traffic(`day ${day}`, { fromMs: fromMs - day * dayMs, requests: 500, minutes: 60 }),
      );
      const others = [
        ...traffic('cold', { cold: true, requests: 50, queueFactor: 30 }),
        ...traffic('hostile', { model: hostileModel, requests: 300 }),
        ...traffic('another hour', { fromMs: fromMs - dayMs - hourMs, requests: 400 }),
        ...traffic('too old', { fromMs: fromMs - 8 * dayMs, requests: 400 }),
      ];
      await store(rig, [...now, ...before, ...others]);

      const whole = await ask(rig, question(fromMs));
      expectSlices(whole.rows, compositionOf(now, cuts));
      expect(whole.rows.length).toBe(6);
      expect(whole.range).toEqual({
        from: new Date(fromMs).toISOString(),
        to: new Date(fromMs + 30 * minuteMs).toISOString(),
        step_seconds: null,
      });
      expect(whole.windows).toEqual({ final: 0, provisional: 1, open: 0 });
      expectBaseline(whole.rows, before);

      const of = (use: (request: SentRequest) => boolean) => now.filter(use);
      const filtered = await ask(
        rig,
        question(fromMs, { version: 'v2', region: 'eu-west-1', requestType: 'rank' }),
      );
      const own = of(
        ({ version, region, requestType }) =>
          version === 'v2' && region === 'eu-west-1' && requestType === 'rank',
      );
      expectSlices(filtered.rows, compositionOf(own, cuts));
      expect(filtered.rows.every(({ baseline }) => baseline === null)).toBe(true);

      const cold = await ask(rig, question(fromMs, { start: 'cold' }));
      expect(cold.rows.reduce((sum, { requests }) => sum + requests, 0)).toBe(50);
      const all = await ask(rig, question(fromMs, { start: 'all' }));
      expect(all.rows.reduce((sum, { requests }) => sum + requests, 0)).toBe(30_050);

      const steps = await ask(rig, question(fromMs, { stepSeconds: 600 }));
      expect(steps.windows).toEqual({ final: 0, provisional: 3, open: 0 });
      for (const [i, row] of steps.rows.entries()) {
        const startMs = fromMs + i * 10 * minuteMs;
        expect(row.at).toBe(new Date(startMs).toISOString());
        const inStep = of(({ endMs }) => endMs >= startMs && endMs < startMs + 10 * minuteMs);
        expectSlices([row], compositionOf(inStep, [0.99]).slice(-1));
      }
      expect(steps.rows.length).toBe(3);

      const hostile = await ask(rig, question(fromMs, { model: hostileModel }));
      expectSlices(
        hostile.rows,
        compositionOf(
          others.filter(({ model }) => model === hostileModel),
          cuts,
        ),
      );
      const none = await ask(rig, question(fromMs, { version: hostileModel }));
      expect(none.rows).toEqual([]);
      await expect(ask(rig, question(fromMs, { model: "' OR 1 = 1 --" }))).rejects.toThrow(
        UnknownName,
      );
    }));
});

/** The share of the baseline's requests, sorted: a band that it cuts is split, so the mean is near, not equal. */
function expectBaseline(rows: readonly SliceRow[], before: readonly SentRequest[]): void {
  const sorted = before.map(({ totalMs }) => totalMs).sort((a, b) => a - b);
  let sum = 0;
  for (const { baseline, from_share, to_share } of rows) {
    const share = sorted.slice(
      Math.round(from_share * sorted.length),
      Math.round(to_share * sorted.length),
    );
    const mean = share.reduce((total, ms) => total + ms, 0) / share.length;
    expect(isWithin(0.1, baseline?.mean_ms ?? 0, mean)).toBe(true);
    sum += (baseline?.mean_ms ?? 0) * (to_share - from_share);
  }
  const whole = sorted.reduce((total, ms) => total + ms, 0) / sorted.length;
  expect(isWithin(1e-4, sum, whole)).toBe(true);
}
