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
  /** The event's bytes, at most `limits.deadLetterBytes` of them; null for a tombstone. */
  readonly bytes: Buffer | null;
  /** Length before it was cut. */
  readonly originalBytes: number;
}

/** Copies what a dead letter keeps out of the message it came in. */
export function deadLetterBytes(message: Buffer | null, start: number, end: number): Buffer | null {
  if (message === null) return null;
  return Buffer.from(message.subarray(start, Math.min(end, start + limits.deadLetterBytes)));
}

/**
 * A dead letter as a message: the event as it came, and in headers where it came from and why it
 * is here. (topic, partition, offset, index) identify it: after a crash it may come twice.
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
