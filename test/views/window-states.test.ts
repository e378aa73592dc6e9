import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepsOf } from '../../src/views/time-range.ts';
import { rangeState, stateOf, windowsOf } from '../../src/views/window-states.ts';

const range = { fromSeconds: 600, toSeconds: 1_200, stepSeconds: 60, resolution: '1m' } as const;
const never = Number.NEGATIVE_INFINITY;

describe('windows of a range', () => {
  it('are final, then provisional, then open', () => {
    expect(windowsOf(range, { completeMs: 900_000, finalMs: 720_000 })).toEqual({
      final: 2,
      provisional: 3,
      open: 5,
    });
  });

  it('are open before anything is stored', () => {
    expect(windowsOf(range, { completeMs: never, finalMs: never })).toEqual({
      final: 0,
      provisional: 0,
      open: 10,
    });
  });

  it('are never more final than they are complete', () => {
    expect(windowsOf(range, { completeMs: 720_000, finalMs: 9e9 })).toMatchObject({ final: 2 });
    expect(rangeState(range, { completeMs: 720_000, finalMs: 9e9 })).toBe('open');
  });

  it('are counted as each is judged, whatever the bounds', () => {
    const ms = fc.oneof(fc.integer({ min: 0, max: 2_000_000 }), fc.constant(never));
    fc.assert(
      fc.property(ms, ms, (completeMs, finalMs) => {
        const bounds = { completeMs, finalMs };
        const states = Array.from({ length: stepsOf(range) }, (_, i) =>
          stateOf((range.fromSeconds + (i + 1) * range.stepSeconds) * 1000, bounds),
        );
        const count = (state: string) => states.filter((one) => one === state).length;
        expect(windowsOf(range, bounds)).toEqual({
          final: count('final'),
          provisional: count('provisional'),
          open: count('open'),
        });
      }),
    );
  });
});
