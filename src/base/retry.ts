import type { Clock } from './clock.ts';

/** Waits between attempts: the first and the longest. Each is twice the one before. */
export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

export interface RetryOptions extends Backoff {
  readonly clock: Pick<Clock, 'sleep'>;
  /** @default no limit */
  readonly attempts?: number;
  /** Receives the error of an attempt before the wait; throws where another attempt is of no use. */
  readonly onError: (error: unknown, waitMs: number) => void;
}

/** Ends the attempts where it returns true. */
interface Ending {
  readonly isOver: () => boolean;
}

/** The waits of a backoff, without end. */
export function* waitsOf({ firstMs, longestMs }: Backoff): Generator<number, never> {
  for (let waitMs = firstMs; ; waitMs = Math.min(2 * waitMs, longestMs)) yield waitMs;
}

/**
 * Runs an action until it returns a value: again after an error, and after undefined.
 *
 * @returns its value; undefined where the attempts are over before.
 * @throws the error of the last attempt.
 * @example
 * // Members of a group, asked for until the brokers show them.
 * await retry(() => findMembers(admin, groupId), {
 *   ...{ clock, firstMs: 200, longestMs: 5_000 },
 *   onError: (error, waitMs) => log.warn({ err: messageOf(error), retry_ms: waitMs }, 'retrying'),
 * });
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
  const { clock, attempts = Number.POSITIVE_INFINITY, isOver = () => false, onError } = options;
  const waits = waitsOf(options);
  for (let attempt = 1; !isOver(); attempt++) {
    const isLast = attempt >= attempts;
    const waitMs = waits.next().value;
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
  }
  return undefined;
}
