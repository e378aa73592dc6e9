import { describe, expect, it } from 'vitest';
import { lookFirst } from '../../../src/alert/message/look-first.ts';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';

const of = (stage: string, changed: Partial<AnomalyEvent>, named = {}) =>
  lookFirst(
    anomalyFixture({ blame: [{ stage, ...named, excess_ms: 300, share: 1 }], stage, ...changed }),
  );

describe('lookFirst', () => {
  it('goes by the class that the event has of the stage', () => {
    expect(of('rerank', { bottleneck: 'feature' }, { class: 'feature' })).toBe(
      'the feature store: its latency, timeouts and cache hits',
    );
  });

  it('goes by the standard name in an event of before, which has no class', () => {
    expect(of('prefill', { bottleneck: 'unknown' })).toBe(
      'prompts: their lengths, prefix-cache hits, and what is batched with them',
    );
  });

  it('says how to class a stage that nobody classed', () => {
    expect(of('rerank', { bottleneck: 'unknown' })).toBe(
      'what rerank does and calls, and what was released last (stages.rerank.class of the configuration would say more)',
    );
    expect(of('a.b:c', { bottleneck: 'unknown' })).toContain('(stages."a.b:c".class of ');
  });

  it('names the blamed stage first where several explain it together', () => {
    expect(of('queue', { bottleneck: 'contention' }, { class: 'queue' })).toBe(
      'queue first: queue depth, concurrency and replicas of the model server; then whatever shares the hosts: CPU throttling, garbage collection, neighbours',
    );
  });
});
