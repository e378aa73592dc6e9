import { describe, expect, it } from 'vitest';
import { configSchema } from '../../../src/config/schema.ts';
import type { RejectReason } from '../../../src/decode/reject-reasons.ts';
import { chunkSettingsOf } from '../../../src/ingest/chunk/chunk-settings.ts';
import { LetterEvents } from '../../../src/ingest/replay/letter-events.ts';
import { TopicFormats } from '../../../src/topics/topic-formats.ts';
import { testConfig } from '../test-config.ts';

const placeOf = (index: number, reason: RejectReason = 'invalid_json') => ({
  topic: 't',
  index,
  reason,
});
const good = (model: string) => `{"ts":1790000000000,"model":"${model}","stages_ms":{"forward":2}}`;
const events = new LetterEvents(chunkSettingsOf(testConfig()), TopicFormats.open(testConfig()));
const find = (message: string, index: number) =>
  events.find(Buffer.from(message), placeOf(index))?.toString();

describe('the event of a letter', () => {
  it.each([
    ['an array', (parts: string[]) => `[${parts.join(', ')}]`],
    ['lines', (parts: string[]) => parts.join('\n')],
  ])('is found by its position in %s, good events and bad ones alike', (_, join) => {
    const parts = [good('a'), '{"model":"no ts"}', good('b'), '{"ts":1}', good('c')];
    expect(parts.map((_part, index) => find(join(parts), index))).toEqual(parts);
    expect(find(join(parts), 5)).toBeUndefined();
  });

  it('is the whole of a message of one', () => {
    expect(find(good('a'), 0)).toBe(good('a'));
    expect(find('no event', 0)).toBe('no event');
  });

  it('is the message in a topic of Avro, whose schema it does not need', () => {
    const config = configSchema.parse({
      kafka: { topics: [{ topic: 't', format: 'avro' }] },
      schema_registry: { url: 'http://127.0.0.1:1' },
    });
    const of = new LetterEvents(chunkSettingsOf(config), TopicFormats.open(config));
    const message = Buffer.from([0, 0, 0, 0, 1, 2]);
    expect(of.find(message, placeOf(0))).toEqual(message);
    expect(of.find(message, placeOf(1))).toBeUndefined();
  });

  it('is found where a header of the record says what the message is', () => {
    const topic = { topic: 't', format: 'json', preset: 'nginx', framing: 'confluent' };
    const config = configSchema.parse({ kafka: { topics: [topic] } });
    const of = new LetterEvents(chunkSettingsOf(config), TopicFormats.open(config));
    const message = Buffer.from('[{"msec":1}, {"msec":2}]');
    const headers = () => new Map([['__value_schema_id', Buffer.from([0, 0, 0, 0, 2])]]);
    expect(of.find(message, placeOf(1), headers)?.toString()).toBe('{"msec":2}');
    expect(of.find(message, placeOf(1))).toBeUndefined();
  });

  it('is counted with spans that are none, and is a request by itself', () => {
    const config = configSchema.parse({ kafka: { topics: [{ topic: 't', format: 'otlp_json' }] } });
    const of = new LetterEvents(chunkSettingsOf(config), TopicFormats.open(config));
    const attributes = [{ key: 'gen_ai.latency.e2e', value: { doubleValue: 1 } }];
    const time = { startTimeUnixNano: '1790000000000000000', endTimeUnixNano: '0' };
    const call = { name: 'llm_request', attributes, ...time };
    const ended = { ...call, endTimeUnixNano: '1790000001000000000' };
    const service = [{ key: 'service.name', value: { stringValue: 'm' } }];
    const spans = [{ name: 'GET /' }, call, { name: 'GET /' }, ended];
    const requestOf = (list: readonly object[]) => ({
      resourceSpans: [{ resource: { attributes: service }, scopeSpans: [{ spans: list }] }],
    });
    const message = Buffer.from(JSON.stringify(requestOf(spans)));
    const found = spans.map((_, index) =>
      JSON.parse(of.find(message, placeOf(index))?.toString() ?? 'null'),
    );
    expect(found).toEqual([null, requestOf([call]), null, requestOf([ended])]);
  });

  it('of a topic of spans is the whole message, where none of it was read and all of it can be now', () => {
    const formats = TopicFormats.open(testConfig());
    const of = new LetterEvents(
      chunkSettingsOf(testConfig()),
      formats,
      new Map([['t', 'zipkin_json']]),
    );
    const span = { traceId: 'a1', id: 'b2', name: 'GET /', timestamp: 1, duration: 2 };
    const message = Buffer.from(JSON.stringify([span, span]));
    const found = (bytes: Buffer, ...place: Parameters<typeof placeOf>) =>
      of.find(bytes, placeOf(...place));
    expect(found(message, 0, 'invalid_protobuf')).toBe(message);
    expect(found(message, 0, 'undecodable_batch')).toBe(message);
    // A span beyond the first, a trace, a message that is of another format still.
    expect(found(message, 1, 'invalid_protobuf')).toBeUndefined();
    expect(found(message, 0, 'no_root')).toBeUndefined();
    expect(found(Buffer.from(JSON.stringify([7, span])), 0)).toBeUndefined();
    expect(found(Buffer.from('{}'), 0)).toBeUndefined();
  });
});
