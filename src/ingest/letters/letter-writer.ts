import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import type { Metrics } from '../../base/telemetry/metrics.ts';
import type { Config } from '../../config/schema.ts';
import type { RejectReason } from '../../decode/reject-reasons.ts';
import type { OutgoingMessage, Publisher } from '../../kafka/client/publisher.ts';
import { type DeadLetter, deadLetterMessage } from './dead-letter.ts';
import type { DeadLetterBudget } from './dead-letter-budget.ts';

const LETTERS_AT_ONCE = 500;

export interface LetterContext {
  /** Undefined where dead letters have no topic (a file as source): they are logged and counted. */
  readonly publisher: Publisher | undefined;
  readonly config: Config;
  readonly deadLetterSuffix: string;
  /** Shared by all partitions of a process. */
  readonly letterBudget: DeadLetterBudget;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/**
 * Makes the messages: as many letters as the budget allows, and one for all others. Must be called once per
 * chunk, so that retries write the same.
 */
export function rationedMessages(
  letters: readonly DeadLetter[],
  { config, publisher, letterBudget, clock, log, metrics }: LetterContext,
): OutgoingMessage[] {
  if (publisher === undefined) return [];
  const elapsedMs = clock.elapsedMs();
  const written = letterBudget.spend(letters.length, elapsedMs);
  const unreported = letterBudget.report(elapsedMs);
  if (unreported > 0) {
    log.warn(
      { suppressed: unreported },
      'limits.max_dead_letters_per_second was reached: further rejected events are only counted',
    );
  }
  const withPayload = config.kafka.dead_letter_payloads;
  const messages = letters
    .slice(0, written)
    .map((letter) => deadLetterMessage(letter, withPayload));
  const suppressed = letters.slice(written);
  const [first] = suppressed;
  return first === undefined ? messages : [...messages, summaryOf(suppressed, first, metrics)];
}

export async function publishLetters(
  topic: string,
  messages: readonly OutgoingMessage[],
  { publisher, deadLetterSuffix, metrics }: LetterContext,
): Promise<void> {
  if (publisher === undefined) return;
  for (let from = 0; from < messages.length; from += LETTERS_AT_ONCE) {
    const some = messages.slice(from, from + LETTERS_AT_ONCE);
    await publisher.publish(`${topic}${deadLetterSuffix}`, some);
    metrics.deadLetters.inc({ topic }, some.length);
  }
}

/**
 * Counts suppressed letters, given in offset order, and makes the one letter that represents them: their
 * offsets, and a count per reason. Its key differs from the key of any other letter.
 */
function summaryOf(
  letters: readonly DeadLetter[],
  first: DeadLetter,
  metrics: Metrics,
): OutgoingMessage {
  const { topic, partition, offset: firstOffset } = first;
  const lastOffset = letters.at(-1)?.offset ?? firstOffset;
  const byReason = new Map<RejectReason, number>();
  for (const { reason } of letters) byReason.set(reason, (byReason.get(reason) ?? 0) + 1);
  for (const [reason, count] of byReason) metrics.deadLettersSuppressed.inc({ reason }, count);
  const summary = {
    suppressed: letters.length,
    reasons: Object.fromEntries(byReason),
    topic,
    partition,
    first_offset: firstOffset,
    last_offset: lastOffset,
  };
  return {
    key: `${topic}/${partition}/${firstOffset}-${lastOffset}/suppressed`,
    value: JSON.stringify(summary),
    headers: {
      'tailmark-suppressed': String(letters.length),
      'tailmark-detail':
        'limits.max_dead_letters_per_second was reached: these events have no dead letters of their own',
      'tailmark-topic': topic,
      'tailmark-partition': String(partition),
      'tailmark-offset': String(firstOffset),
      'tailmark-last-offset': String(lastOffset),
    },
  };
}
