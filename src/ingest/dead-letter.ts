import { limits } from '../base/limits.ts';
import type { Config } from '../config/schema.ts';
import { day } from '../config/setting-types.ts';
import type { RejectReason } from '../decode/reject-reasons.ts';
import type { TopicSpec } from '../kafka/client/kafka-topics.ts';
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
 *
 * @param withPayload false leaves out the event, and the detail, which may quote the event.
 */
export function deadLetterMessage(letter: DeadLetter, withPayload = true): OutgoingMessage {
  const quotesEvent = letter.reason !== 'undecodable_batch';
  const isLeftOut = !withPayload && letter.bytes !== null;
  return {
    key: `${letter.topic}/${letter.partition}/${letter.offset}/${letter.index}`,
    value: withPayload ? letter.bytes : null,
    headers: {
      'tailmark-reason': letter.reason,
      ...(withPayload || !quotesEvent ? { 'tailmark-detail': letter.detail } : {}),
      'tailmark-topic': letter.topic,
      'tailmark-partition': String(letter.partition),
      'tailmark-offset': String(letter.offset),
      'tailmark-index': String(letter.index),
      ...(isLeftOut ? { 'tailmark-left-out-bytes': String(letter.originalBytes) } : {}),
      ...(withPayload && letter.bytes !== null && letter.bytes.length < letter.originalBytes
        ? { 'tailmark-truncated-from-bytes': String(letter.originalBytes) }
        : {}),
    },
  };
}

/**
 * Topics that some roles write to, as they are created: dead letters and anomalies. Kafka deletes whole
 * segments, and never the one that is being written to: so a segment of dead letters holds a day at most.
 */
export function writtenTopics(
  { kafka, alert }: Pick<Config, 'kafka' | 'alert'>,
  roles: readonly string[],
): TopicSpec[] {
  const { topics, dead_letter_suffix: suffix, dead_letter_retention: retentionMs } = kafka;
  const settings = {
    'cleanup.policy': 'delete',
    'retention.ms': String(retentionMs),
    'segment.ms': String(Math.min(retentionMs, day)),
  };
  const deadLetters = topics.map((topic) => ({ topic: `${topic}${suffix}`, settings }));
  return [
    ...(roles.includes('ingest') ? deadLetters : []),
    ...(roles.includes('ingest') || roles.includes('detect') ? [{ topic: alert.topic }] : []),
  ];
}
