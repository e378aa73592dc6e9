import { describe, expect, it } from 'vitest';
import { TopicReceiver } from '../../../src/alert/receivers/topic-receiver.ts';
import { type ErrorCode, OperatorError } from '../../../src/base/operator-error.ts';
import { anomalyEventSchema } from '../../../src/contract/anomaly-event.ts';
import type { OutgoingMessage } from '../../../src/kafka/client/publisher.ts';
import { clockAt, noticeOf, richEvent } from './kit/notices.ts';

const clock = clockAt('2026-11-21T10:31:00Z');

function receiverOf(publish: (messages: readonly OutgoingMessage[]) => Promise<void>) {
  const published: string[] = [];
  const publisher = {
    publish: (topic: string, messages: readonly OutgoingMessage[]) => {
      published.push(topic);
      return publish(messages);
    },
    close: async () => undefined,
  };
  const receiver = new TopicReceiver({ topic: 'anomalies.v1', publisher, clock, timeoutMs: 900 });
  return { receiver, published };
}

const operatorError = (code: ErrorCode) => new OperatorError(code, `Cannot write: ${code}`);

describe('a topic', () => {
  it.each([
    [operatorError('TAILMARK_KAFKA_UNREACHABLE'), 'failed'],
    [operatorError('TAILMARK_KAFKA_FAILED'), 'failed'],
    [operatorError('TAILMARK_KAFKA_DENIED'), 'rejected'],
    [operatorError('TAILMARK_KAFKA_TOPIC_MISSING'), 'rejected'],
    [new Error('The request included a message larger than the max message size'), 'unacceptable'],
    [new Error('RECORD_LIST_TOO_LARGE'), 'unacceptable'],
  ] as const)('that refuses by %s has %s', async (error, outcome) => {
    const { receiver } = receiverOf(() => Promise.reject(error));
    expect(await receiver.send(noticeOf('opened'), 'full')).toEqual({
      outcome,
      answer: error.message,
    });
  });

  it('that does not respond has failed after the timeout', async () => {
    const { published } = receiverOf(async () => undefined);
    const publisher = {
      publish: () => new Promise<void>(() => undefined),
      close: async () => undefined,
    };
    const instant = { ...clock, sleep: async () => undefined };
    const options = { topic: 't', publisher, clock: instant, timeoutMs: 900 };
    const answer = await new TopicReceiver(options).send(noticeOf('opened'), 'full');
    expect(answer).toMatchObject({ outcome: 'failed', answer: 'no response within 900 ms' });
    expect(published).toEqual([]);
  });

  it('gets every revision as one binary-mode CloudEvent under the dedup key', async () => {
    const seen: OutgoingMessage[] = [];
    const { receiver, published } = receiverOf(async (messages) => void seen.push(...messages));
    const answer = await receiver.send(noticeOf('opened'), 'full');
    expect(answer.outcome).toBe('accepted');
    expect([receiver.name, receiver.feed]).toEqual(['kafka anomalies.v1', 'revisions']);
    expect(published).toEqual(['anomalies.v1']);
    expect(seen).toEqual([
      {
        key: richEvent.dedup_key,
        value: JSON.stringify(richEvent),
        headers: {
          'content-type': 'application/json',
          ce_specversion: '1.0',
          ce_id: `${richEvent.id}-1`,
          ce_source: 'tailmark',
          ce_type: 'io.tailmark.anomaly.opened.v1',
          ce_time: richEvent.emitted_at,
          ce_subject: richEvent.dedup_key,
        },
      },
    ]);
  });

  it('shows what it would publish, in the minimal form without the long parts', () => {
    const { receiver } = receiverOf(async () => undefined);
    const [preview] = receiver.preview(noticeOf('opened'), 'minimal');
    expect(preview?.target).toBe('PUBLISH anomalies.v1');
    const event = anomalyEventSchema.parse(JSON.parse(preview?.body ?? ''));
    expect(event).toMatchObject({ id: richEvent.id, blame: [], sql: '' });
    expect(event).not.toHaveProperty('scope');
  });
});
