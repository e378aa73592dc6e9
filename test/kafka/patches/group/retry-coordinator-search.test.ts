import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { configSchema } from '../../../../src/config/schema.ts';
import { createKafkaClient } from '../../../../src/kafka/client/kafka-client.ts';

const require = createRequire(import.meta.url);
const Cluster = require('kafkajs/src/cluster/index.js') as {
  prototype: { findGroupCoordinatorMetadata(query: object): Promise<unknown> };
};
const { KafkaJSGroupCoordinatorNotFound } = require('kafkajs/src/errors.js') as {
  KafkaJSGroupCoordinatorNotFound: new (message: string) => Error & { retriable: boolean };
};

/** Creating a client patches kafkajs. */
createKafkaClient(configSchema.parse({ kafka: { brokers: ['127.0.0.1:1'] } }).kafka);

/** kafkajs' own search, in a pool without a response of a broker, or that has failed. */
function search(withBroker: () => Promise<unknown>): Promise<unknown> {
  const cluster = { brokerPool: { withBroker } };
  return Cluster.prototype.findGroupCoordinatorMetadata.call(cluster, { groupId: 'g' });
}

it('is retried when no broker knows the coordinator of the group', async () => {
  expect(new KafkaJSGroupCoordinatorNotFound('').retriable).toBe(false);
  await expect(search(async () => null)).rejects.toMatchObject({
    name: 'KafkaJSGroupCoordinatorNotFound',
    retriable: true,
  });
});

it("leaves a broker's responses, and other errors, as they are", async () => {
  const metadata = { coordinator: { nodeId: 1 } };
  expect(await search(async () => metadata)).toBe(metadata);
  const error = Object.assign(new Error('refused'), { retriable: false });
  await expect(search(() => Promise.reject(error))).rejects.toBe(error);
  expect(error.retriable).toBe(false);
});
