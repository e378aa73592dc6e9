import type { Clock } from '../../../base/clock.ts';
import { secondMs } from '../../../base/time.ts';
import { Problem } from '../../http/problem.ts';

/**
 * Limits of the bytes that a client gets. A list of 5,000 models has 2 MB, and a page asks for it every five
 * seconds at most. Writing costs the one thread that serves all clients.
 */
const limits = {
  bytesPerSecond: 16 * 1024 * 1024,
  /** Bytes that a client gets at once, after a pause. */
  burstBytes: 32 * 1024 * 1024,
  /** Longest wait for its turn; 503 beyond it. */
  deadlineMs: 8 * secondMs,
} as const;

/**
 * Answers a client by bytes a second (generic cell rate algorithm; ITU-T I.371). One that asks for more waits
 * for itself, so the thread and the cores are there for others.
 */
export class AnswerPace {
  readonly #clock: Pick<Clock, 'elapsedMs' | 'sleep'>;
  /** Time at which the client's answers so far are paid for; the least recent client first. */
  readonly #paidMs = new Map<string, number>();

  constructor(clock: Pick<Clock, 'elapsedMs' | 'sleep'>) {
    this.#clock = clock;
  }

  /**
   * Resolves when an answer may be written. Time and memory do not grow with the bytes.
   *
   * @throws Problem 503 where it would be written too late.
   */
  async turn(client: string, bytes: number): Promise<void> {
    const nowMs = this.#clock.elapsedMs();
    const beginMs = Math.max(nowMs, this.#paidMs.get(client) ?? 0);
    const waitMs = beginMs - nowMs - msOf(limits.burstBytes);
    if (waitMs > limits.deadlineMs) {
      throw new Problem(
        503,
        'Answers of more bytes than one client gets wait: ask again later.',
        5,
      );
    }
    this.#paidMs.delete(client);
    this.#paidMs.set(client, beginMs + msOf(bytes));
    for (const [oldest, paidMs] of this.#paidMs) {
      if (paidMs > nowMs) break;
      this.#paidMs.delete(oldest);
    }
    if (waitMs > 0) await this.#clock.sleep(waitMs);
  }
}

function msOf(bytes: number): number {
  return (bytes / limits.bytesPerSecond) * secondMs;
}
