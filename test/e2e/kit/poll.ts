import { setTimeout as pause } from 'node:timers/promises';

/**
 * Calls every 100 ms until the result is not undefined, and returns it.
 *
 * @throws after the deadline, naming the awaited state and, by `seen`, the progress
 */
export async function poll<T>(
  what: string,
  ask: () => T | undefined | Promise<T | undefined>,
  { deadlineMs = 30_000, seen = () => '' as unknown } = {},
): Promise<T> {
  const endMs = performance.now() + deadlineMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > endMs) {
      throw new Error(`not within ${deadlineMs} ms: ${what} ${JSON.stringify(seen())}`);
    }
    await pause(100);
  }
}
