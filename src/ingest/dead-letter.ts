import { limits } from '../base/limits.ts';
import type { RejectReason } from '../decode/reject-reasons.ts';
import type { OutgoingMessage } from '../kafka/client/publisher.ts';

/** An event, or a whole message, that was not counted. */
export interface DeadLetter {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** Position of the event in its message. */
  readonly index: number;
  readonly reason: RejectReason;
  readonly detail: string;
  /** The event's bytes, at most `limits.deadLetterBytes`; null for a tombstone. */
  readonly bytes: Buffer | null;
  /** Length before truncation. */
  readonly originalBytes: number;
}

/** Copies the bytes of a dead letter out of its message. */
export function deadLetterBytes(message: Buffer | null, start: number, end: number): Buffer | null {
  if (message === null) return null;
  return Buffer.from(message.subarray(start, Math.min(end, start + limits.deadLetterBytes)));
}

/**
 * Makes a message of a dead letter: the original event, with its origin and the reason in headers. (topic,
 * partition, offset, index) identify it, because a crash may duplicate it.
 */
export function deadLetterMessage(letter: DeadLetter): OutgoingMessage {
  return {
    key: `${letter.topic}/${letter.partition}/${letter.offset}/${letter.index}`,
    value: letter.bytes,
    headers: {
      'tailmark-reason': letter.reason,
      'tailmark-detail': letter.detail,
      'tailmark-topic': letter.topic,
      'tailmark-partition': String(letter.partition),
      'tailmark-offset': String(letter.offset),
      'tailmark-index': String(letter.index),
      ...(letter.bytes !== null && letter.bytes.length < letter.originalBytes
        ? { 'tailmark-truncated-from-bytes': String(letter.originalBytes) }
        : {}),
    },
  };
}
