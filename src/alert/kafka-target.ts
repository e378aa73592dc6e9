import type { Publisher } from '../kafka/client/publisher.ts';
import type { AlertTarget } from './alert-target.ts';
import { cloudEvent, cloudEventContentType } from './cloud-event.ts';

/**
 * Publishes events to a topic: CloudEvents' Kafka binding in binary mode, attributes as `ce_` headers. The
 * key is the dedup key, so the events of an incident stay in order in one partition.
 */
export function kafkaTarget(publisher: Publisher, topic: string): AlertTarget {
  return {
    name: `kafka ${topic}`,
    async deliver(event) {
      const { attributes, body } = cloudEvent(event);
      const headers: Record<string, string> = { 'content-type': cloudEventContentType };
      for (const [name, value] of Object.entries(attributes)) headers[`ce_${name}`] = value;
      await publisher.publish(topic, [{ key: event.dedup_key, value: body, headers }]);
    },
  };
}
