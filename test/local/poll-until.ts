import { setTimeout as pause } from 'node:timers/promises';

/** Asks until the answer is yes; fails after the deadline, saying what was waited for. */
export async function pollUntil(
  what: string,
  ask: () => boolean | Promise<boolean>,
  deadlineMs = 30_000,
): Promise<void> {
  const endMs = performance.now() + deadlineMs;
  while (!(await ask())) {
    if (performance.now() > endMs) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await pause(50);
  }
}
