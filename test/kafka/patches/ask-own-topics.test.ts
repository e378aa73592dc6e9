import { expect, it } from 'vitest';
import { configSchema } from '../../../src/config/schema.ts';
import { createKafkaClient } from '../../../src/kafka/client/kafka-client.ts';
import { kafkajsInternals } from '../../../src/kafka/client/patch-kafkajs.ts';

/** Creating a client patches kafkajs. */
createKafkaClient(configSchema.parse({ kafka: { brokers: ['127.0.0.1:1'] } }).kafka);

async function encoded(version: number, topics: readonly string[]): Promise<string> {
  const { Metadata } = kafkajsInternals().requests;
  const { request } = Metadata.protocol({ version })({ topics, allowAutoTopicCreation: false });
  return (await request.encode()).buffer.toString('hex');
}

/** By the version of the request: no topics, not all of them, which is -1 there and 0 in version 10. */
const none = {
  1: '00000000',
  3: '00000000',
  4: '0000000000',
  6: '0000000000',
  10: '000100000000',
} as const;

it.each(Object.entries(none))(
  'asks for no topic where none is named, by version %s',
  async (version, bytes) => {
    expect(await encoded(Number(version), [])).toBe(bytes);
  },
);

it('asks for topics by name as kafkajs does', async () => {
  expect(await encoded(1, ['t'])).toBe('00000001000174');
  expect(await encoded(4, ['t'])).toBe('0000000100017400');
});

it('leaves the first version as it is: there is no request for no topic', async () => {
  expect(await encoded(0, [])).toBe('00000000');
});
