import { describe, expect, it } from 'vitest';
import { inRequestOrder, requestOrder, standardStages } from '../../src/base/dimensions.ts';

const ordered = (...stages: string[]) =>
  inRequestOrder(stages.map((stage) => ({ stage }))).map(({ stage }) => stage);

describe('the order of a request', () => {
  it('has the standard stages in their order, and each name once', () => {
    const standard = new Set<string>(standardStages);
    expect(requestOrder.filter((stage) => standard.has(stage))).toEqual(standardStages);
    expect(new Set(requestOrder).size).toBe(requestOrder.length);
  });

  // Some producers write their maps by name, others in no order.
  it.each([
    ['of a language model', ['decode', 'prefill', 'queue'], ['queue', 'prefill', 'decode']],
    [
      'of a ranker',
      ['downstream', 'egress', 'features', 'forward', 'ingress', 'queue'],
      ['ingress', 'queue', 'features', 'forward', 'downstream', 'egress'],
    ],
    [
      'of k6',
      ['receiving', 'first_byte', 'sending', 'tls', 'connect', 'blocked'],
      ['blocked', 'connect', 'tls', 'sending', 'first_byte', 'receiving'],
    ],
  ])('%s is by what happens, whatever the order of the event', (_, stages, expected) => {
    expect(ordered(...stages)).toEqual(expected);
  });

  it('leaves names of its own behind the stage that they follow in the event', () => {
    expect(ordered('auth', 'queue', 'rerank', 'mix', 'forward', 'encoder.queue')).toEqual([
      ...['auth', 'queue', 'rerank', 'mix', 'forward', 'encoder.queue'],
    ]);
    expect(ordered('forward', 'mix', 'queue', 'rerank')).toEqual([
      ...['queue', 'rerank', 'forward', 'mix'],
    ]);
    expect(ordered('b', 'a')).toEqual(['b', 'a']);
    expect(ordered()).toEqual([]);
  });
});
