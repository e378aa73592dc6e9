// Covers src/roles/detect/leadership-lost.ts.

import { ClickHouseError } from '@clickhouse/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLog } from '../../../src/base/telemetry/log.ts';
import { createMetrics } from '../../../src/base/telemetry/metrics.ts';
import { configSchema } from '../../../src/config/schema.ts';
import type { Leadership } from '../../../src/kafka/leadership/leadership.ts';
import { alwaysLeading } from '../../../src/kafka/leadership/leadership.ts';
import { LeaderLoop } from '../../../src/roles/detect/leader-loop.ts';
import { LeadershipLost } from '../../../src/roles/detect/leadership-lost.ts';
import type { WindowEvaluator } from '../../../src/roles/detect/window-evaluator.ts';
import { LastingError } from '../../../src/sink/client/lasting-error.ts';

const log = createLog({ level: 'silent' });

function loopOf(
  evaluator: WindowEvaluator,
  { evaluateAtEnd = false, leadership = alwaysLeading, metrics = createMetrics() } = {},
): LeaderLoop {
  const options = { intervalMs: 100, evaluateAtEnd, leadership, log, metrics };
  return new LeaderLoop(() => evaluator, options);
}

/** Leadership that a test grants and revokes. */
class GivenLead implements Leadership {
  readonly handover = alwaysLeading.handover;
  leads = false;
  stopped = false;
  away: string[] = [];
  readonly done = new Promise<never>(() => undefined);
  isLeading = () => this.leads;
  problems = () => this.away;
  stop = async () => {
    this.stopped = true;
  };
}

/** An evaluator whose steps fail with the given errors in turn. */
function evaluatorOf(failures: readonly unknown[]) {
  const left = [...failures];
  const calls: string[] = [];
  const evaluator = {
    start: async () => {
      calls.push('start');
    },
    step: async () => {
      calls.push('step');
      const failure = left.shift();
      if (failure !== undefined) throw failure;
    },
    flush: async () => {
      calls.push('flush');
    },
    problems: () => [],
    notes: () => ['detect: a note'],
    end: () => undefined,
  };
  return { calls, evaluator: evaluator as unknown as WindowEvaluator };
}

describe('LeaderLoop', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('is not ready after three failed steps in a row, and ready again after one that succeeds', async () => {
    const { evaluator } = evaluatorOf([
      new Error('a'),
      new Error('b'),
      'ClickHouse is away',
      new Error('c'),
    ]);
    const loop = loopOf(evaluator);
    await loop.start();
    const problems: string[][] = [];
    for (let turn = 0; turn < 5; turn++) {
      await vi.advanceTimersByTimeAsync(100);
      problems.push(loop.problems());
    }
    expect(problems).toEqual([
      [],
      [],
      ['detect: 3 consecutive steps failed: ClickHouse is away'],
      ['detect: 4 consecutive steps failed: c'],
      [],
    ]);
    await loop.stop();
  });

  it('has the warnings of its evaluator while this process leads, and none while it stands by', async () => {
    const leadership = new GivenLead();
    const loop = loopOf(evaluatorOf([]).evaluator, { leadership });
    await loop.start();
    expect(loop.notes()).toEqual([]);
    leadership.leads = true;
    await vi.advanceTimersByTimeAsync(100);
    expect(loop.notes()).toEqual(['detect: a note']);
    leadership.leads = false;
    await vi.advanceTimersByTimeAsync(100);
    expect(loop.notes()).toEqual([]);
    await loop.stop();
  });

  it('ends with the reason of failures that retries do not mend, after 30 s of them', async () => {
    const denied = new ClickHouseError({ code: '497', message: 'Not enough privileges' });
    const { evaluator } = evaluatorOf(Array.from({ length: 1_000 }, () => denied));
    const { clickhouse } = configSchema.parse({});
    const loop = new LeaderLoop(() => evaluator, {
      ...{ intervalMs: 100, evaluateAtEnd: false, leadership: alwaysLeading, log },
      metrics: createMetrics(),
      lasting: new LastingError(clickhouse, 'detect'),
    });
    let ended: unknown;
    loop.done.catch((error: unknown) => {
      ended = error;
    });
    await loop.start();
    await vi.advanceTimersByTimeAsync(30_000);
    expect(ended).toBeUndefined();
    await vi.advanceTimersByTimeAsync(200);
    expect(ended).toMatchObject({ code: 'TAILMARK_CLICKHOUSE_DENIED', exitCode: 78 });
    await loop.stop();
  });

  it('does not add up failures that are not in a row', async () => {
    const { evaluator } = evaluatorOf([new Error('a'), new Error('b'), undefined, new Error('c')]);
    const loop = loopOf(evaluator);
    await loop.start();
    for (let turn = 0; turn < 4; turn++) {
      await vi.advanceTimersByTimeAsync(100);
      expect(loop.problems()).toEqual([]);
    }
    await loop.stop();
  });

  it('steps at its interval, one step at a time, until it is stopped', async () => {
    const { calls, evaluator } = evaluatorOf([]);
    let finish: () => void = () => undefined;
    evaluator.step = () => {
      calls.push('step');
      return new Promise((resolve) => {
        finish = resolve;
      });
    };
    const loop = loopOf(evaluator);
    await loop.start();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(calls).toEqual(['start', 'step']);
    finish();
    await vi.advanceTimersByTimeAsync(99);
    expect(calls).toEqual(['start', 'step']);
    await vi.advanceTimersByTimeAsync(1);
    expect(calls).toEqual(['start', 'step', 'step']);
    let isStopped = false;
    const stopped = loop.stop().then(() => {
      isStopped = true;
    });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(isStopped).toBe(false);
    finish();
    await stopped;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(calls).toEqual(['start', 'step', 'step', 'flush']);
  });

  it('evaluates once more at the end of a bounded source', async () => {
    const { calls, evaluator } = evaluatorOf([]);
    const loop = loopOf(evaluator, { evaluateAtEnd: true });
    await loop.start();
    await loop.stop();
    expect(calls).toEqual(['start', 'step', 'flush']);
  });

  it('stands by, ready and without an evaluator, until it leads, and again when it does not', async () => {
    const lead = new GivenLead();
    const metrics = createMetrics();
    const { calls, evaluator } = evaluatorOf([]);
    const loop = loopOf(evaluator, { leadership: lead, metrics });
    const gauge = async () => (await metrics.detectorLeader.get()).values[0]?.value;
    await loop.start();
    await vi.advanceTimersByTimeAsync(200);
    expect([calls, loop.problems(), await gauge()]).toEqual([[], [], 0]);
    lead.leads = true;
    await vi.advanceTimersByTimeAsync(200);
    expect([calls, await gauge()]).toEqual([['start', 'step', 'step'], 1]);
    lead.leads = false;
    await vi.advanceTimersByTimeAsync(200);
    expect([calls, await gauge()]).toEqual([['start', 'step', 'step'], 0]);
    lead.leads = true;
    await vi.advanceTimersByTimeAsync(100);
    // Its state is outdated by now: it restarts.
    expect(calls.slice(3)).toEqual(['start', 'step']);
    await loop.stop();
    expect([calls.slice(5), lead.stopped]).toEqual([['flush'], true]);
  });

  it('that loses the lead within a step stands by; that is no failure', async () => {
    const lead = new GivenLead();
    lead.leads = true;
    const { calls, evaluator } = evaluatorOf([
      new LeadershipLost(),
      new LeadershipLost(),
      new LeadershipLost(),
    ]);
    const loop = loopOf(evaluator, { leadership: lead });
    await loop.start();
    await vi.advanceTimersByTimeAsync(400);
    expect(calls).toEqual([
      ...['start', 'step', 'start', 'step', 'start', 'step', 'start', 'step'],
    ]);
    expect(loop.problems()).toEqual([]);
    lead.leads = false;
    await vi.advanceTimersByTimeAsync(100);
    // It must not store events that another process has emitted by now.
    await loop.stop();
    expect(calls).not.toContain('flush');
  });

  it('reports why it cannot stand by', async () => {
    const lead = new GivenLead();
    lead.away = ['detect: not in the group'];
    const loop = loopOf(evaluatorOf([]).evaluator, { leadership: lead });
    await loop.start();
    expect(loop.problems()).toEqual(['detect: not in the group']);
    await loop.stop();
  });
});
