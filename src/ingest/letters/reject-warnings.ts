import type { Logger } from '../../base/telemetry/log.ts';
import type { DeadLetter } from './dead-letter.ts';

/** Share of rejected events of a chunk that is said, and the least number of them. */
const WARN_ABOVE = 0.5;
const LEAST_REJECTED = 20;
/** A topic is warned of once in so long, while it goes on. */
const AGAIN_MS = 600_000;

/**
 * Says in the log where most events of a topic are rejected, with the most frequent reason and its first
 * detail: a topic of another format, or a mapping of other records. Memory: a time a topic.
 */
export class RejectWarnings {
  readonly #log: Pick<Logger, 'warn'>;
  readonly #warnedMs = new Map<string, number>();

  constructor(log: Pick<Logger, 'warn'>) {
    this.#log = log;
  }

  count(
    { topic, consumed }: { readonly topic: string; readonly consumed: number },
    letters: readonly DeadLetter[],
    elapsedMs: number,
  ): void {
    if (letters.length < LEAST_REJECTED || letters.length <= consumed * WARN_ABOVE) return;
    if (elapsedMs - (this.#warnedMs.get(topic) ?? Number.NEGATIVE_INFINITY) < AGAIN_MS) return;
    this.#warnedMs.set(topic, elapsedMs);
    const byReason = new Map<string, number>();
    for (const { reason } of letters) byReason.set(reason, (byReason.get(reason) ?? 0) + 1);
    const [reason] = [...byReason].sort(([, a], [, b]) => b - a)[0] ?? [];
    const detail = letters.find((letter) => letter.reason === reason)?.detail;
    this.#log.warn(
      { topic, rejected: letters.length, of: consumed, reason, detail },
      'most of this topic is rejected: compare its format and its rules with what writes to it',
    );
  }
}
