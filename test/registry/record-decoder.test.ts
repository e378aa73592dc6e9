import { afterEach, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { Logger } from '../../src/base/telemetry/log.ts';
import { configSchema } from '../../src/config/schema.ts';
import { SchemaRegistry } from '../../src/registry/schema-registry.ts';
import { recordReaderOf } from '../../src/topics/record-reader-of.ts';
import {
  documentedMapping,
  fixture,
  messagesOf,
  recordDecoder,
  rejectionOf,
} from '../formats/records/decode-records.ts';
import { json, type RegistryServer, startRegistry } from './registry-server.ts';

const open: { close(): void | Promise<void> }[] = [];
afterEach(() => Promise.all(open.splice(0).map((each) => each.close())));

const quiet = { warn: () => undefined, info: () => undefined } as unknown as Logger;

/** A decoder of Avro with a registry that fails twice and then has schema 1 alone. */
async function avroDecoder() {
  let left = 2;
  const server: RegistryServer = await startRegistry((request, response) => {
    if (left-- > 0) json(response, 503, {});
    else if (request.url === '/schemas/ids/1') {
      json(response, 200, { schema: fixture('kafka/timing.avsc').toString() });
    } else json(response, 404, { error_code: 40403 });
  });
  const { url } = server;
  const { schema_registry } = configSchema.parse({ schema_registry: { url } });
  const clock = { ...systemClock, sleep: () => systemClock.yieldToEventLoop() };
  const requests = { inc: () => undefined };
  const config = { ...schema_registry, url };
  const schemas = new SchemaRegistry({ config, clock, log: quiet, requests, waitsForNew: false });
  open.push(schemas, server);
  const reader = recordReaderOf({ format: 'avro', framing: 'confluent', schemas });
  return { server, ...recordDecoder(reader, documentedMapping('avro')) };
}

it('a message waits for its schema, which is fetched once', async () => {
  const { decoder, decode, server } = await avroDecoder();
  const messages = messagesOf('kafka/timings_avro.jsonl');
  const results: number[] = [];
  for (const message of messages) {
    await decoder.prepare(message);
    results.push(decode(message).outcomes.filter((outcome) => 'event' in outcome).length);
  }
  expect(results).toEqual(Array(20).fill(1));
  expect(server.requests).toHaveLength(3);
  expect(decoder.prepare(messages[0] as Buffer)).toBeUndefined();
});

it('a message whose schema the registry does not have is a dead letter', async () => {
  const { decoder, decode } = await avroDecoder();
  const message = Buffer.from([0, 0, 0, 0, 9, 1, 2, 3]);
  await decoder.prepare(message);
  const result = decode(message);
  expect(rejectionOf(result)).toBe(
    'unknown_schema: Schema 9 cannot be used: the registry has none with that id',
  );
  expect(result.letters).toEqual([message]);
});

it('a message keeps what it was prepared with, though the source forgets it', async () => {
  const answers = [undefined, undefined, { missing: 'gone' }, undefined];
  let fetches = 0;
  const schemas = {
    get: () => answers.shift(),
    fetch: async () => {
      fetches++;
    },
  };
  const reader = recordReaderOf({ format: 'avro', framing: 'confluent', schemas });
  const { decoder, decode } = recordDecoder(reader);
  const message = Buffer.from([0, 0, 0, 0, 9, 1]);
  await decoder.prepare(message);
  expect(fetches).toBe(2);
  expect(rejectionOf(decode(message))).toMatch(/^unknown_schema: Schema 9 cannot be used: gone$/);
});

it('a message without a schema id waits for nothing', async () => {
  const { decoder, decode, server } = await avroDecoder();
  const message = Buffer.from('{"ts":1}');
  expect(decoder.prepare(message)).toBeUndefined();
  expect(rejectionOf(decode(message))).toMatch(/^invalid_avro: /);
  expect(server.requests).toEqual([]);
});

it('a message that was not prepared is our mistake, not the sender’s', async () => {
  const { decode } = await avroDecoder();
  expect(() => decode(Buffer.from([0, 0, 0, 0, 9]))).toThrow('BUG');
});
