import { messageOf } from '../../base/failure.ts';
import { type ErrorCode, OperatorError } from '../../base/operator-error.ts';
import type { OutgoingMessage, Publisher } from '../../kafka/client/publisher.ts';
import { cloudEvent, cloudEventContentType } from '../cloud-event.ts';
import type { Answer, Form, Notice, Preview, Receiver } from '../receiver.ts';
import { attempt, type ReceiverClock } from './attempt.ts';
import { deliveredEvent } from './payloads/delivered-event.ts';

export interface TopicReceiverOptions {
  readonly topic: string;
  /** Closed by its owner. */
  readonly publisher: Publisher;
  readonly clock: ReceiverClock;
  readonly timeoutMs: number;
}

/** Failures that last until somebody changes a setting or a right. */
const ofConfiguration = new Set<ErrorCode>([
  'TAILMARK_KAFKA_AUTH',
  'TAILMARK_KAFKA_DENIED',
  'TAILMARK_KAFKA_TLS',
  'TAILMARK_KAFKA_TOPIC_MISSING',
]);
/** Errors of a client or a broker for a message beyond its limit. */
const tooLarge = /TOO_LARGE|too large|larger than/i;

/**
 * Publishes every event to a topic: CloudEvents' Kafka binding in binary mode, attributes as `ce_`
 * headers. The key is the dedup key, so the events of an incident stay in order in one partition.
 */
export class TopicReceiver implements Receiver {
  readonly name: string;
  readonly feed = 'revisions';
  readonly wantsUpdates = true;
  readonly showsRepeats = false;
  readonly wantsPast = true;
  readonly #options: TopicReceiverOptions;

  constructor(options: TopicReceiverOptions) {
    this.name = `kafka ${options.topic}`;
    this.#options = options;
  }

  send(notice: Notice, form: Form): Promise<Answer> {
    const { publisher, topic, clock, timeoutMs } = this.#options;
    const publish = async (): Promise<Answer> => {
      const message = messageFor(notice, form);
      try {
        await publisher.publish(topic, [message]);
        return { outcome: 'accepted', answer: 'stored by all in-sync replicas' };
      } catch (error) {
        return { outcome: outcomeOf(error), answer: messageOf(error) };
      }
    };
    return attempt(publish, { timeoutMs, clock, secrets: [] });
  }

  preview(notice: Notice, form: Form): readonly Preview[] {
    const { value } = messageFor(notice, form);
    return [{ target: `PUBLISH ${this.#options.topic}`, body: String(value) }];
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

function messageFor(notice: Notice, form: Form): OutgoingMessage {
  const { attributes, body } = cloudEvent(deliveredEvent(notice, form));
  const headers: Record<string, string> = { 'content-type': cloudEventContentType };
  for (const [name, value] of Object.entries(attributes)) headers[`ce_${name}`] = value;
  return { key: notice.event.dedup_key, value: body, headers };
}

function outcomeOf(error: unknown): Exclude<Answer['outcome'], 'accepted'> {
  if (tooLarge.test(messageOf(error))) return 'unacceptable';
  const isOfConfiguration = error instanceof OperatorError && ofConfiguration.has(error.code);
  return isOfConfiguration ? 'rejected' : 'failed';
}
