import { describe, expect, it } from 'vitest';
import { gapStage } from '../../src/base/dimensions.ts';
import { isGivenUp } from '../../src/window/censored-durations.ts';
import { TestChunk } from './test-chunk.ts';
import type { TimingEventText } from './timing-event-text.ts';

const ts = 1_790_000_000_000;

/** Censored durations by stage, of one event or several. */
function censoredOf(...events: readonly Partial<TimingEventText>[]) {
  const chunk = new TestChunk().begin();
  chunk.add(...events.map((event) => ({ ts, model: 'm', ...event })));
  const { rows, stages, censored } = chunk.accumulator;
  const found = new Map<string, number[]>();
  for (let row = 0; row < rows.size; row++) {
    const [means, weights] = [new Float64Array(64), new Float64Array(64)];
    const n = censored.centroids(row, means, weights);
    const values = [...means.subarray(0, n)].flatMap((ms, i) =>
      Array<number>(weights[i] as number).fill(ms),
    );
    expect(censored.requests(row)).toBe(values.length);
    if (n > 0) found.set(stages.text(rows.stageId(row)), values);
  }
  return Object.fromEntries(found);
}

const stages_ms = { queue: 5, forward: 30, first_token: 20 };

describe('a request that was given up', () => {
  it.each(['timeout', 'cancelled'] as const)('is censored: %s', (status) => {
    expect(censoredOf({ status, total_ms: 50, stages_ms })).toEqual({ total: [50], forward: [30] });
  });

  it.each(['ok', 'error', undefined] as const)('is none that ended: %s', (status) => {
    expect(censoredOf({ ...(status && { status }), total_ms: 50, stages_ms })).toEqual({});
  });

  it('was in its last part in the order of a request, whatever the order of its keys', () => {
    const status = 'timeout';
    const of = (stages: Record<string, number>) =>
      Object.keys(censoredOf({ status, total_ms: 99, stages_ms: stages })).sort();
    expect(of({ decode: 3, prefill: 2, queue: 1 })).toEqual(['decode', 'total']);
    expect(of({ queue: 1, rerank: 2 })).toEqual(['rerank', 'total']);
    expect(of({ queue: 1, rerank: 2, forward: 3 })).toEqual(['forward', 'total']);
    expect(of({ alpha: 1, beta: 2 })).toEqual(['beta', 'total']);
    expect(of({ egress: 1, alpha: 2, queue: 3, beta: 4 })).toEqual(['alpha', 'total']);
  });

  it('has reached its milestones, and gaps and measures ended', () => {
    const event = {
      ...({ status: 'cancelled', total_ms: 99, input_tokens: 2_000, output_tokens: 5 } as const),
      ...{ stages_ms: { prefill: 9, first_token: 20 }, itl_ms: [5, 6] },
    };
    const censored = censoredOf(event);
    expect(censored).toEqual({ total: [99], prefill: [9] });
    expect(censored).not.toHaveProperty(gapStage);
  });

  it('without a total is censored in its part alone, and one of milestones alone in its total', () => {
    const status = 'timeout' as const;
    expect(censoredOf({ status, partial: true, stages_ms: { queue: 3 } })).toEqual({ queue: [3] });
    expect(censoredOf({ status, total_ms: 9, stages_ms: { ttft: 3 } })).toEqual({ total: [9] });
    expect(censoredOf({ status, total_ms: 9 })).toEqual({ total: [9] });
  });

  it('counts as often as its weight says', () => {
    expect(censoredOf({ status: 'timeout', total_ms: 9, weight: 3 })).toEqual({ total: [9, 9, 9] });
  });

  it('leaves nothing to the next chunk', () => {
    const chunk = new TestChunk().begin();
    chunk.add({ ts, model: 'm', total_ms: 9, status: 'timeout' });
    chunk.begin().add({ ts, model: 'm', total_ms: 9 });
    expect(chunk.accumulator.censored.requests(0)).toBe(0);
    expect(chunk.accumulator.censored.bytes).toBe(0);
  });
});

it('a status is that of a request that was given up, or not', () => {
  expect([0, 1, 2, 3].map(isGivenUp)).toEqual([false, false, true, true]);
});
