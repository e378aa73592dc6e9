import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { longestRun } from '../../../src/detect/options/detect-options.ts';
import { EvaluatedWindows } from '../../../src/detect/proportion/evaluated-windows.ts';
import { StateReader } from '../../../src/snapshot/archive-reader.ts';
import { StateWriter } from '../../../src/snapshot/archive-writer.ts';

const windowMs = 10_000;
const steps = fc.array(
  fc.record({
    requests: fc.nat({ max: 500 }),
    hits: fc.nat({ max: 9 }),
    score: fc.double({ min: 0, max: 50, noNaN: true }),
    /** Windows skipped before it. */
    pause: fc.constantFrom(0, 0, 0, 0, 2),
  }),
  { maxLength: 80 },
);

function restored(windows: EvaluatedWindows): EvaluatedWindows {
  const writer = new StateWriter();
  windows.serialize(writer);
  const reader = new StateReader(writer.drain());
  const other = new EvaluatedWindows();
  other.serialize(reader);
  reader.end();
  return other;
}

describe('EvaluatedWindows', () => {
  it('keep the last thirty windows, each released once with its own score, also in a snapshot', () => {
    fc.assert(
      fc.property(steps, (given) => {
        let windows = new EvaluatedWindows();
        let model: { startMs: number; requests: number; hits: number }[] = [];
        const waiting: { startMs: number; score: number }[] = [];
        let startMs = 0;
        for (const [n, { requests, hits, score, pause }] of given.entries()) {
          startMs += windowMs * (1 + pause);
          windows.add(startMs, requests, hits);
          if (score > 10) windows.score(score);
          model = [...model, { startMs, requests, hits }].slice(-longestRun);
          waiting.push({ startMs, score: score > 10 ? score : 0 });
          expect(windows.since(0, 0)).toEqual(model);
          const lateMs = startMs - 7 * windowMs;
          expect(windows.since(lateMs, 0)).toEqual(model.filter((one) => one.startMs >= lateMs));
          expect(windows.since(startMs + 1, 0)).toEqual(model.slice(-1));
          if (n % 17 === 16) windows = restored(windows);
          if (waiting.length <= 6) continue;
          const oldest = waiting.shift();
          // A window that was not evaluated cannot be released.
          expect(windows.release((oldest?.startMs ?? 0) - 1)).toBeUndefined();
          const at = windows.release(oldest?.startMs ?? 0) ?? Number.NaN;
          const released = model.find((one) => one.startMs === oldest?.startMs);
          expect([windows.requestsOf(at), windows.hitsOf(at), windows.scoreOf(at)]).toEqual([
            released?.requests,
            released?.hits,
            oldest?.score,
          ]);
        }
      }),
      { seed: 13, numRuns: 200 },
    );
  });

  it('reach back further where it takes more of them to hold enough requests', () => {
    const windows = new EvaluatedWindows();
    for (let at = 0; at < 200; at++) windows.add(at * windowMs, 2, 0);
    const since = (ms: number, least: number) => windows.since(ms, least).length;
    expect([0, 60, 90, 120, 1_000].map((least) => since(0, least))).toEqual([30, 30, 45, 60, 90]);
    expect(since(190 * windowMs, 90)).toBe(10);
  });

  it('release none before the first one', () => {
    expect(new EvaluatedWindows().release(0)).toBeUndefined();
  });
});
