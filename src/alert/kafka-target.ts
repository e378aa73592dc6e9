import type { AnomalyEvent } from '../detect/event/anomaly-event.ts';
import type { Publisher } from '../kafka/client/publisher.ts';
import type { AlertTarget } from './alert-target.ts';
import { cloudEvent, cloudEventContentType } from './cloud-event.ts';

/**
 * Publishes events to a topic: CloudEvents' Kafka binding in binary mode, attributes as `ce_` headers. The
 * key is the dedup key, so the events of an incident stay in order in one partition.
 */
export class KafkaTarget implements AlertTarget {
  readonly name: string;
  readonly #publisher: Publisher;
  readonly #topic: string;

  constructor(publisher: Publisher, topic: string) {
    this.name = `kafka ${topic}`;
    this.#publisher = publisher;
    this.#topic = topic;
  }

  async deliver(event: AnomalyEvent): Promise<void> {
    const { attributes, body } = cloudEvent(event);
    const headers: Record<string, string> = { 'content-type': cloudEventContentType };
    for (const [name, value] of Object.entries(attributes)) headers[`ce_${name}`] = value;
    await this.#publisher.publish(this.#topic, [{ key: event.dedup_key, value: body, headers }]);
  }
}
