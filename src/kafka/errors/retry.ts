import type { Clock } from '../../base/clock.ts';

export interface RetryOptions {
  readonly clock: Pick<Clock, 'sleep'>;
  /** Waits between attempts: the first and the longest. Each is twice the one before. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** @default no limit */
  readonly attempts?: number;
  /** Receives the error of an attempt before the wait; throws where another attempt is of no use. */
  readonly onError: (error: unknown, waitMs: number) => void;
}

/** Ends the attempts where it returns true. */
interface Ending {
  readonly isOver: () => boolean;
}

/**
 * Runs an action until it returns a value: again after an error, and after undefined.
 *
 * @returns its value; undefined where the attempts are over before.
 * @throws the error of the last attempt.
 */
export function retry<T>(
  action: () => Promise<T | undefined>,
  options: RetryOptions & Ending,
): Promise<T | undefined>;
export function retry<T>(action: () => Promise<T | undefined>, options: RetryOptions): Promise<T>;
export async function retry<T>(
  action: () => Promise<T | undefined>,
  options: RetryOptions & Partial<Ending>,
): Promise<T | undefined> {
  const { clock, firstMs, longestMs, attempts = Number.POSITIVE_INFINITY, onError } = options;
  const { isOver = () => false } = options;
  let waitMs = firstMs;
  for (let attempt = 1; !isOver(); attempt++) {
    const isLast = attempt >= attempts;
    try {
      const value = await action();
      if (value !== undefined) return value;
    } catch (error) {
      if (isLast) throw error;
      onError(error, waitMs);
    }
    if (isOver()) return undefined;
    if (isLast) throw new Error(`no result after ${attempts} attempts`);
    await clock.sleep(waitMs);
    waitMs = Math.min(2 * waitMs, longestMs);
  }
  return undefined;
}
