import { describe, expect, test } from 'vitest';
import { OtlpJsonDecoder } from '../../../src/formats/otlp/otlp-json-decoder.ts';
import { mulberry32 } from '../../base/seeded-random.ts';
import { fixtureText } from '../../convert/conversion.ts';
import { jsonOf, protoOf } from './oracle.ts';
import { decodeAll, testOptions, testProtoDecoder } from './outcomes.ts';
import { RandomRequests } from './random-request.ts';

const options = testOptions();
const decoder = new OtlpJsonDecoder(options);
const decode = (message: string | Buffer | null) =>
  decodeAll(decoder, options, typeof message === 'string' ? Buffer.from(message) : message);

describe('gives what the same requests give in protobuf', () => {
  test.each([
    'llm-server-spans/vllm-sglang-genai.otlp.jsonl',
    'openllmetry/openai-chat.otlp.jsonl',
    'openinference/openai-chat.otlp.jsonl',
  ])('of %s', (file) => {
    const proto = testProtoDecoder();
    for (const line of fixtureText(file).trim().split('\n')) {
      expect(decode(line).outcomes).toEqual(proto.decode(protoOf(line)).outcomes);
    }
  });

  test('of random spans', () => {
    const requests = new RandomRequests(mulberry32(5), { oddShare: 0.05, spans: 4 });
    const proto = testProtoDecoder();
    for (let i = 0; i < 60; i++) {
      const request = requests.next();
      const { outcomes, count } = decode(jsonOf(request));
      expect(outcomes).toEqual(proto.decode(request).outcomes);
      expect(count).toBe(outcomes.length);
    }
  });
});

test('a letter reads as the span was', () => {
  const requests = new RandomRequests(mulberry32(6), { oddShare: 0.05, spans: 4 });
  for (let i = 0; i < 40; i++) {
    const { outcomes, letters } = decode(jsonOf(requests.next()));
    for (const [j, letter] of letters.entries()) {
      const outcome = outcomes[j];
      if (letter === null || outcome === undefined || outcome === 'skipped') continue;
      const again = 'index' in outcome ? { ...outcome, index: 0 } : outcome;
      expect(decode(letter).outcomes).toEqual([again]);
    }
  }
});

const spans = (list: unknown) =>
  JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: list }] }] });

describe('bad input', () => {
  test.each<[string, string | Buffer | null, string]>([
    ['a tombstone', null, 'tombstone'],
    ['nothing', '', 'empty_message'],
    ['no JSON', '{"resourceSpans":[', 'invalid_json'],
    ['a list', '[]', 'invalid_json'],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'invalid_utf8'],
    ['arrays of depth 10^5', '['.repeat(1e5), 'too_deep'],
    ['10^6 empty spans', spans(new Array(1e6).fill({})), 'too_many_events'],
    ['a span that is a number', spans([1]), 'bad_field'],
    ['spans that are no list', spans(1), 'bad_field'],
    ['an event of another kind', '{"ts":1795608000123,"model":"m"}', 'invalid_json'],
    ['logs', '{"resourceLogs":[]}', 'invalid_json'],
  ])('%s is rejected', (_, message, reason) => {
    const { outcomes, letters, count } = decode(message);
    expect(outcomes).toEqual([{ index: 0, reason, detail: expect.stringMatching(/\w/) }]);
    expect(count).toBe(1);
    if (message !== null && message.length < 1e6)
      expect(decode(letters[0]!).outcomes).toEqual(outcomes);
  });

  test('what holds no spans is named', () => {
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`field${n}`, n]));
    const detail =
      'A request must have resourceSpans, and has field0, field1, field2, field3, field4.';
    expect(decode(JSON.stringify(many)).outcomes).toMatchObject([{ detail }]);
  });

  test('a byte order mark is no matter, nor is a request without spans', () => {
    expect(decode('\ufeff{}')).toEqual({ outcomes: [], letters: [], count: 0 });
    expect(decode(spans([]))).toEqual({ outcomes: [], letters: [], count: 0 });
  });

  test('spans beyond the limit are one rejection', () => {
    const { outcomes, count } = decode(spans(new Array(100_010).fill({})));
    expect(count).toBe(100_001);
    expect(outcomes.at(-1)).toMatchObject({ index: 100_000, reason: 'too_many_events' });
  });

  test('the letters of a message do not repeat its resource without end', () => {
    const attribute = { key: 'x', value: { stringValue: 'y'.repeat(60_000) } };
    const resource = { attributes: [attribute] };
    const scopeSpans = [{ spans: new Array(1_000).fill(1) }];
    const { letters } = decode(JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] }));
    const bytes = letters.reduce((sum, letter) => sum + (letter?.length ?? 0), 0);
    expect(bytes).toBeLessThan(9e6);
  });
});
