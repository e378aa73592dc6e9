import { describe, expect, it } from 'vitest';
import { runDelay } from './run-delay.ts';

const outage = { stage: 'forward', share: 1, factor: 10 };

describe('runDelay', () => {
  it('emits an outage with its first window, two seconds after its end', () => {
    expect(runDelay(0, outage)).toBe(12_000);
  });

  it('emits nothing without a slowdown', () => {
    expect(runDelay(0, { ...outage, factor: 1 })).toBeUndefined();
  });
});
