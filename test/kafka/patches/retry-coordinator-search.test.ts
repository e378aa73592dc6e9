import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { configSchema } from '../../../src/config/schema.ts';
import { createKafkaClient } from '../../../src/kafka/client/kafka-client.ts';

const require = createRequire(import.meta.url);
const Cluster = require('kafkajs/src/cluster/index.js') as {
  prototype: { findGroupCoordinatorMetadata(query: object): Promise<unknown> };
};
const { KafkaJSGroupCoordinatorNotFound } = require('kafkajs/src/errors.js') as {
  KafkaJSGroupCoordinatorNotFound: new (message: string) => Error & { retriable: boolean };
};

/** A client mends kafkajs as it is made. */
createKafkaClient(configSchema.parse({ kafka: { brokers: ['127.0.0.1:1'] } }).kafka);

/** kafkajs' own search, in a pool in which no broker has answered or the pool has failed. */
function search(withBroker: () => Promise<unknown>): Promise<unknown> {
  const cluster = { brokerPool: { withBroker } };
  return Cluster.prototype.findGroupCoordinatorMetadata.call(cluster, { groupId: 'g' });
}

it('is not an error for good when no broker tells who coordinates the group', async () => {
  expect(new KafkaJSGroupCoordinatorNotFound('').retriable).toBe(false);
  await expect(search(async () => null)).rejects.toMatchObject({
    name: 'KafkaJSGroupCoordinatorNotFound',
    retriable: true,
  });
});

it('leaves what a broker answers, and other errors, as they are', async () => {
  const metadata = { coordinator: { nodeId: 1 } };
  expect(await search(async () => metadata)).toBe(metadata);
  const error = Object.assign(new Error('refused'), { retriable: false });
  await expect(search(() => Promise.reject(error))).rejects.toBe(error);
  expect(error.retriable).toBe(false);
});
