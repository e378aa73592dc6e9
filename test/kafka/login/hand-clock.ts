import type { Clock } from '../../../src/base/clock.ts';

/** A clock that stands still until a test lets time pass. */
export function handClock(): Clock & { pass(ms: number): Promise<void> } {
  let nowMs = 0;
  const sleepers: { readonly untilMs: number; readonly wake: () => void }[] = [];
  const settle = async () => {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };
  return {
    nowMs: () => nowMs,
    elapsedMs: () => nowMs,
    sleep: (ms) =>
      new Promise((wake) => {
        sleepers.push({ untilMs: nowMs + ms, wake });
      }),
    yieldToEventLoop: () => Promise.resolve(),
    every: () => () => undefined,
    pass: async (ms) => {
      const endMs = nowMs + ms;
      await settle();
      for (;;) {
        sleepers.sort((a, b) => a.untilMs - b.untilMs);
        const [first] = sleepers;
        if (first === undefined || first.untilMs > endMs) break;
        sleepers.shift();
        nowMs = Math.max(nowMs, first.untilMs);
        first.wake();
        await settle();
      }
      nowMs = Math.max(nowMs, endMs);
      await settle();
    },
  };
}
