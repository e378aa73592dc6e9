import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/base/time.ts';
import { BurnCounts } from '../../src/baseline/burn-counts.ts';

describe('BurnCounts', () => {
  it('sums the last steps of each span, gaps included, like a fresh count', () => {
    const counts = new BurnCounts([3 * minuteMs, 10 * minuteMs], minuteMs);
    const added: { startMs: number; requests: number; bad: number }[] = [];
    let startMs = 1_000 * minuteMs;
    for (let n = 0; n < 300; n++) {
      // Six windows a minute, and at times a pause of some minutes, once of more than all spans.
      startMs += n === 200 ? 30 * minuteMs : n % 37 === 0 ? 4 * minuteMs : 10_000;
      const window = { startMs, requests: 10 + (n % 7), bad: (n % 5) / 2 };
      added.push(window);
      counts.add(window.startMs, window.requests, window.bad);
      const step = Math.floor(startMs / minuteMs);
      for (const [span, minutes] of [3, 10].entries()) {
        const within = added.filter((each) => Math.floor(each.startMs / minuteMs) > step - minutes);
        const sum = counts.sum(span);
        expect(sum.requests).toBeCloseTo(
          within.reduce((all, { requests }) => all + requests, 0),
          6,
        );
        expect(sum.bad).toBeCloseTo(
          within.reduce((all, { bad }) => all + bad, 0),
          6,
        );
      }
    }
  });

  it('reports how much of a span is known', () => {
    const counts = new BurnCounts([3 * minuteMs, 10 * minuteMs], minuteMs);
    expect(counts.sum(1).coveredMs).toBe(0);
    for (let minute = 0; minute < 5; minute++) counts.add(minute * minuteMs, 1, 0);
    expect([counts.sum(0).coveredMs, counts.sum(1).coveredMs]).toEqual([
      3 * minuteMs,
      5 * minuteMs,
    ]);
  });

  it('reports since when the rate has been this high', () => {
    const counts = new BurnCounts([10 * minuteMs], minuteMs);
    [0.5, 0, 0.3, 0.2, 0, 0.4].forEach((share, minute) => {
      counts.add(minute * minuteMs, minute === 4 ? 0 : 100, minute === 4 ? 0 : share * 100);
    });
    expect(counts.sinceMs(0.2)).toBe(2 * minuteMs);
    expect(counts.sinceMs(0.25)).toBe(5 * minuteMs);
  });
});
