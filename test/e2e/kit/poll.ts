import { setTimeout as pause } from 'node:timers/promises';

/** Ends what hangs, however busy the machine. */
const DEADLINE_MS = 120_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 500;

/**
 * Calls until the result is not undefined, and returns it. The longer it has taken, the rarer the calls are:
 * those of many tests would take the processor from what they wait for.
 *
 * @throws after the deadline, naming the awaited state and, by `seen`, the progress
 */
export async function poll<T>(
  what: string,
  ask: () => T | undefined | Promise<T | undefined>,
  { deadlineMs = DEADLINE_MS, seen = () => '' as unknown } = {},
): Promise<T> {
  const startMs = performance.now();
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    const elapsedMs = performance.now() - startMs;
    if (elapsedMs > deadlineMs) {
      throw new Error(`not within ${deadlineMs} ms: ${what} ${JSON.stringify(seen())}`);
    }
    await pause(Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, elapsedMs / 10)));
  }
}
