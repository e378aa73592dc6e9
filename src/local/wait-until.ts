import { setTimeout as pause } from 'node:timers/promises';

export interface WaitOptions {
  readonly deadlineMs: number;
  readonly intervalMs: number;
  /** Stops waiting early: the program has exited. */
  readonly stopped?: () => boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Repeats `ask` until it returns true. Returns false after the deadline or once stopped; rejects with the
 * signal's reason when aborted.
 */
export async function waitUntil(
  ask: () => Promise<boolean>,
  options: WaitOptions,
): Promise<boolean> {
  const { deadlineMs, intervalMs, stopped, signal } = options;
  const endMs = performance.now() + deadlineMs;
  for (;;) {
    signal?.throwIfAborted();
    if (stopped?.()) return false;
    if (await ask()) return true;
    if (performance.now() >= endMs) return false;
    await pause(intervalMs);
  }
}
