import type { Logger } from '../../base/telemetry/log.ts';
import { minuteMs } from '../../base/time.ts';
import type { DeadLetter } from './dead-letter.ts';

/** Share of rejected events that is said, and the least number of them. */
const WARN_ABOVE = 0.5;
const LEAST_REJECTED = 20;
/** Time over which they are counted. */
const COUNTED_MS = minuteMs;
/** Interval between warnings of a topic, while it goes on. */
const AGAIN_MS = 600_000;

/** Counts of a topic since a time. */
interface Seen {
  readonly sinceMs: number;
  consumed: number;
  rejected: number;
  readonly byReason: Map<string, { readonly detail: string; count: number }>;
}

/**
 * Says in the log where most events of a topic are rejected within a minute, with the most frequent reason and
 * its first detail: a topic of another format, a mapping of other records, a limit. Memory: some texts a topic.
 */
export class RejectWarnings {
  readonly #log: Pick<Logger, 'warn'>;
  readonly #warnedMs = new Map<string, number>();
  readonly #seen = new Map<string, Seen>();

  constructor(log: Pick<Logger, 'warn'>) {
    this.#log = log;
  }

  count(
    { topic, consumed }: { readonly topic: string; readonly consumed: number },
    letters: readonly DeadLetter[],
    elapsedMs: number,
  ): void {
    const seen = this.#seenOf(topic, elapsedMs);
    seen.consumed += consumed;
    seen.rejected += letters.length;
    for (const { reason, detail } of letters) {
      const known = seen.byReason.get(reason);
      if (known === undefined) seen.byReason.set(reason, { detail, count: 1 });
      else known.count++;
    }
    const { rejected } = seen;
    if (rejected < LEAST_REJECTED || rejected <= seen.consumed * WARN_ABOVE) return;
    if (elapsedMs - (this.#warnedMs.get(topic) ?? Number.NEGATIVE_INFINITY) < AGAIN_MS) return;
    this.#warnedMs.set(topic, elapsedMs);
    const [most] = [...seen.byReason].sort(([, a], [, b]) => b.count - a.count);
    this.#log.warn(
      { topic, rejected, of: seen.consumed, reason: most?.[0], detail: most?.[1].detail },
      'most of this topic is rejected: the reason says whether its format, its rules or a limit is wrong',
    );
  }

  #seenOf(topic: string, elapsedMs: number): Seen {
    const known = this.#seen.get(topic);
    if (known !== undefined && elapsedMs - known.sinceMs < COUNTED_MS) return known;
    const seen: Seen = { sinceMs: elapsedMs, consumed: 0, rejected: 0, byReason: new Map() };
    this.#seen.set(topic, seen);
    return seen;
  }
}
