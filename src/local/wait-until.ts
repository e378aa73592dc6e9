import { setTimeout as pause } from 'node:timers/promises';

export interface WaitOptions {
  readonly deadlineMs: number;
  readonly intervalMs: number;
  /** Ends the waiting early: what is waited for has died. */
  readonly stopped: () => boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Asks again and again until the answer is yes. Resolves with whether it came before the deadline
 * and before `stopped`; rejects with the signal's reason when aborted.
 */
export async function waitUntil(
  ask: () => Promise<boolean>,
  options: WaitOptions,
): Promise<boolean> {
  const { deadlineMs, intervalMs, stopped, signal } = options;
  const endMs = performance.now() + deadlineMs;
  for (;;) {
    signal?.throwIfAborted();
    if (stopped()) return false;
    if (await ask()) return true;
    if (performance.now() >= endMs) return false;
    await pause(intervalMs);
  }
}
