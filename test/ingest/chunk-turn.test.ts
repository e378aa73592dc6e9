import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { untilTurn } from '../../src/ingest/chunk-turn.ts';

describe('untilTurn', () => {
  it('is 3 s after the arrival of a window, and 5 s ahead at least', () => {
    const turn = { partition: 0, intervalMs: 10_000, arrivalMs: 2_000 };
    const windowMs = 1_795_000_000_000;
    expect(untilTurn(windowMs, turn)).toBe(5_000 + 10_000);
    expect(untilTurn(windowMs - 1, turn)).toBe(5_001);
    expect(untilTurn(windowMs + 5_000, turn)).toBe(10_000);
    expect(untilTurn(windowMs + 5_300, turn)).toBe(9_700);
    expect(untilTurn(windowMs + 4_700, turn)).toBe(10_300);
  });

  it('is at the same places of every interval, whatever the time, grace and interval', () => {
    const times = fc.integer({ min: -(10 ** 12), max: 2 * 10 ** 12 });
    fc.assert(
      fc.property(
        times,
        times,
        fc.integer({ min: 100, max: 300_000 }),
        fc.integer({ min: 0, max: 60_000 }),
        fc.nat(300),
        (nowMs, otherMs, intervalMs, arrivalMs, partition) => {
          const turn = { partition, intervalMs, arrivalMs };
          const waits = [untilTurn(nowMs, turn), untilTurn(otherMs, turn)] as const;
          for (const wait of waits) {
            const leastMs = Math.min(5_000, intervalMs / 2);
            expect(wait).toBeGreaterThan(leastMs);
            // Above an interval and 20 s the consumer would count as stuck.
            expect(wait).toBeLessThanOrEqual(intervalMs + leastMs);
          }
          const between = (nowMs + waits[0] - otherMs - waits[1]) / intervalMs;
          expect(Math.abs(between - Math.round(between))).toBeLessThan(1e-4);
          const first = untilTurn(nowMs, { ...turn, partition: 0 });
          const afterMs = (waits[0] - first + intervalMs) % intervalMs;
          expect(Math.min(afterMs, intervalMs - afterMs)).toBeLessThanOrEqual(
            Math.min(2_500, intervalMs) + 1e-3,
          );
        },
      ),
      { seed: 6, numRuns: 1_000 },
    );
  });

  it('spreads partitions over 2.5 s', () => {
    const turn = { intervalMs: 10_000, arrivalMs: 0 };
    const waits = Array.from({ length: 8 }, (_, partition) =>
      untilTurn(-3_000, { ...turn, partition }),
    ).sort((a, b) => a - b);
    const gaps = waits.slice(1).map((wait, i) => wait - (waits[i] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThan(2_500 / 8 / 2);
    expect(Math.max(...gaps)).toBeLessThan((2 * 2_500) / 8);
  });
});
