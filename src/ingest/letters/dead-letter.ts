import { limits } from '../../base/limits.ts';
import { dayMs } from '../../base/time.ts';
import type { Config } from '../../config/schema.ts';

import { type RejectReason, rejectReasons } from '../../decode/reject-reasons.ts';
import type { TopicSpec } from '../../kafka/client/kafka-topics.ts';
import type { OutgoingMessage } from '../../kafka/client/publisher.ts';

/** Place of a rejected event in Kafka, and the reason for its rejection. */
export interface LetterOrigin {
  readonly topic: string;
  readonly partition: number;
  /** See log-id.ts; '' where it is not known. */
  readonly logId: string;
  readonly offset: number;
  /** Position of the event in its message. */
  readonly index: number;
  readonly reason: RejectReason;
}

/** An event, or a whole message, that was not counted. */
export interface DeadLetter extends LetterOrigin {
  readonly detail: string;
  /** The event's bytes, at most `limits.deadLetterBytes`; null for a tombstone. */
  readonly bytes: Buffer | null;
  /** Length before truncation. */
  readonly originalBytes: number;
}

/** Copies what a dead letter keeps of an event. */
export function deadLetterBytes(event: Buffer): Buffer {
  return Buffer.from(event.subarray(0, limits.deadLetterBytes));
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
      ...(letter.logId === '' ? {} : { 'tailmark-log-id': letter.logId }),
      ...(isLeftOut ? { 'tailmark-left-out-bytes': String(letter.originalBytes) } : {}),
      ...(withPayload && letter.bytes !== null && letter.bytes.length < letter.originalBytes
        ? { 'tailmark-truncated-from-bytes': String(letter.originalBytes) }
        : {}),
    },
  };
}

/** Reads the origin of a dead letter; undefined where the message is none of a single event. */
export function originOf(headers: Readonly<Record<string, string>>): LetterOrigin | undefined {
  const number = (name: string) => {
    const text = headers[`tailmark-${name}`] ?? '';
    return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  };
  const topic = headers['tailmark-topic'];
  const reason = rejectReasons.find((known) => known === headers['tailmark-reason']);
  const [partition, offset, index] = [number('partition'), number('offset'), number('index')];
  if (topic === undefined || reason === undefined) return undefined;
  if (partition === undefined || offset === undefined || index === undefined) return undefined;
  return { topic, partition, logId: headers['tailmark-log-id'] ?? '', offset, index, reason };
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
    'segment.ms': String(Math.min(retentionMs, dayMs)),
  };
  const deadLetters = topics.map((topic) => ({ topic: `${topic}${suffix}`, settings }));
  return [
    ...(roles.includes('ingest') ? deadLetters : []),
    ...(roles.includes('ingest') || roles.includes('detect') ? [{ topic: alert.topic }] : []),
  ];
}
