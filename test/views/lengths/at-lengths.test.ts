import { describe, expect, it } from 'vitest';
import { tailAtLengths } from '../../../src/views/lengths/at-lengths.ts';

const measured = {
  ...{ q: 0.99, now: { ms: 6_100, at_least: false }, before: { ms: 4_200, at_least: false } },
  ...{ atLengthsMs: 4_400, error: 0.15, name: 'a week earlier' },
};

describe('a tail at other lengths', () => {
  it('is shown beside the tail as it is and as it was', () => {
    expect(tailAtLengths(measured)).toEqual({
      ...{ q: 0.99, ms: 6_100, at_lengths_ms: 4_400, earlier_ms: 4_200, error: 0.15 },
      text: 'p99 of total is 6,100 ms; with answers as long as a week earlier it would be 4,400 ms (then it was 4,200 ms).',
      reason: null,
    });
  });

  it('is shown without an earlier tail that is a lower bound, or of no request', () => {
    for (const before of [
      { ms: 4_200, at_least: true },
      { ms: null, at_least: false },
      undefined,
    ]) {
      const { earlier_ms, text } = tailAtLengths({ ...measured, before });
      expect([earlier_ms, text]).toEqual([
        null,
        'p99 of total is 6,100 ms; with answers as long as a week earlier it would be 4,400 ms.',
      ]);
    }
  });

  it.each([
    ['within_error', { atLengthsMs: 5_186 }],
    ['within_error', { atLengthsMs: 7_014 }],
    ['too_few_requests', { atLengthsMs: null }],
    ['too_few_requests', { now: undefined }],
    ['not_measured', { q: 0.999 }],
    ['not_measured', { q: 0.4 }],
    ['given_up', { now: { ms: 6_100, at_least: true } }],
  ])('is left out with the reason %s: %j', (reason, changed) => {
    const nothing = { ms: null, at_lengths_ms: null, earlier_ms: null, error: null, text: null };
    expect(tailAtLengths({ ...measured, ...changed })).toMatchObject({ ...nothing, reason });
  });

  it('is shown from the error on, in both directions', () => {
    for (const atLengthsMs of [5_184, 7_016]) {
      expect(tailAtLengths({ ...measured, atLengthsMs }).reason).toBeNull();
    }
  });
});
