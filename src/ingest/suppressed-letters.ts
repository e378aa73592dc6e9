import type { RejectReason } from '../decode/reject-reasons.ts';
import type { OutgoingMessage } from '../kafka/client/publisher.ts';
import type { DeadLetter } from './dead-letter.ts';

/** What a chunk rejected without a letter of its own. */
export interface SuppressedLetters {
  readonly topic: string;
  readonly partition: number;
  readonly firstOffset: number;
  readonly lastOffset: number;
  readonly count: number;
  readonly byReason: ReadonlyMap<RejectReason, number>;
}

/** Sums up letters, in the order of their offsets, that are not written; undefined if all are. */
export function suppressedLetters(letters: readonly DeadLetter[]): SuppressedLetters | undefined {
  const first = letters[0];
  const last = letters.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const byReason = new Map<RejectReason, number>();
  for (const { reason } of letters) byReason.set(reason, (byReason.get(reason) ?? 0) + 1);
  return {
    topic: first.topic,
    partition: first.partition,
    firstOffset: first.offset,
    lastOffset: last.offset,
    count: letters.length,
    byReason,
  };
}

/**
 * The one letter that stands for them: which offsets, how many for which reason. Its key does not
 * take the form of any other letter's.
 */
export function suppressedMessage(suppressed: SuppressedLetters): OutgoingMessage {
  const { topic, partition, firstOffset, lastOffset, count, byReason } = suppressed;
  const summary = {
    suppressed: count,
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
      'tailmark-suppressed': String(count),
      'tailmark-detail':
        'More events were rejected than limits.max_dead_letters_per_second lets dead letters be written',
      'tailmark-topic': topic,
      'tailmark-partition': String(partition),
      'tailmark-offset': String(firstOffset),
      'tailmark-last-offset': String(lastOffset),
    },
  };
}
