import { describe, expect, test } from 'vitest';
import type { EventDraft } from '../../../src/formats/format-reader.ts';
import { genai } from '../../../src/formats/spans/presets/genai.ts';
import { sglang } from '../../../src/formats/spans/presets/sglang.ts';
import { vllm } from '../../../src/formats/spans/presets/vllm.ts';
import { mulberry32 } from '../../base/seeded-random.ts';
import {
  expectedEvents,
  expectSameEvents,
  fixtureBytes,
  fixtureText,
} from '../../convert/conversion.ts';
import { FuzzMessages } from '../../fuzz/fuzz-messages.ts';
import { protoOf } from './oracle.ts';
import { allPresets, generalPath, type Outcome, testProtoDecoder } from './outcomes.ts';
import { bytesField, doubleField, fixed64Field, varintField } from './proto-writer.ts';
import { RandomRequests } from './random-request.ts';

/** An outcome's event in the form of the expected ones. */
function draftOf(outcome: Outcome): EventDraft {
  if (typeof outcome === 'string' || !('event' in outcome)) throw new Error(String(outcome));
  const { event } = outcome;
  const text = (name: string) => (event[name] === '' ? undefined : event[name]);
  const amount = (name: string) => (Number.isNaN(event[name]) ? undefined : event[name]);
  return {
    ts: event.tsMs as number,
    model: event.model as string,
    service: text('service'),
    id: text('requestId'),
    trace_id: text('traceId'),
    status: event.status,
    input_tokens: amount('input_tokens'),
    output_tokens: amount('output_tokens'),
    total_ms: event.totalMs as number,
    stages_ms: Object.fromEntries(event.stages as [string, number][]),
  };
}

describe('real files', () => {
  test.each([
    ['llm-server-spans/vllm-sglang-genai.otlp.jsonl', 'llm-server-spans', 0],
    ['openllmetry/openai-chat.otlp.jsonl', 'openllmetry', 0],
    ['openinference/openai-chat.otlp.jsonl', 'openinference', 1],
  ])('%s as protobuf gives the expected events', (file, expected, fallbackCount) => {
    const { decoder, decode } = testProtoDecoder();
    const requests = fixtureText(file).trim().split('\n').map(protoOf);
    const outcomes = requests.flatMap((request) => decode(request).outcomes);
    const events = outcomes.filter((outcome) => outcome !== 'skipped').map(draftOf);
    expectSameEvents(events, expectedEvents(expected));
    expect(outcomes).toEqual(requests.flatMap(generalPath()));
    // A call whose model stands in JSON only is for the general path.
    expect(decoder.fallbackCount).toBe(fallbackCount);
  });

  test('the collector’s records of a pipeline hold no event', () => {
    const { decoder, decode } = testProtoDecoder();
    const lines = fixtureText('kafka/otlp_spans.jsonl').trim().split('\n');
    const records = lines.map((line) => Buffer.from(JSON.parse(line).value_b64, 'base64'));
    const outcomes = records.flatMap((record) => decode(record).outcomes);
    expect(outcomes).toEqual(new Array(497).fill('skipped'));
    expect(decoder.fallbackCount).toBe(0);
  });
});

describe('the hot path gives what the general path gives', () => {
  test.each([
    ['all presets', allPresets],
    ['vllm', [vllm]],
    ['sglang', [sglang]],
    ['genai', genai],
    ['sglang and vllm', [sglang, vllm]],
    ['none', []],
  ])('of random spans, %s', (_, presets) => {
    const requests = new RandomRequests(mulberry32(2), { oddShare: 0.02, spans: 6 });
    const { decoder, decode } = testProtoDecoder(presets);
    const general = generalPath(presets);
    let spanCount = 0;
    for (let i = 0; i < 100; i++) {
      const request = requests.next();
      const { outcomes, count } = decode(request);
      expect(outcomes).toEqual(general(request));
      expect(count).toBe(outcomes.length);
      spanCount += count;
    }
    expect(decoder.fallbackCount).toBeLessThan(spanCount * 0.5);
  });

  test('of mutated files', () => {
    const mutations = new FuzzMessages(7);
    const general = generalPath();
    const { decode } = testProtoDecoder();
    const texts = [
      'llm-server-spans/vllm-sglang-genai.otlp.jsonl',
      'openllmetry/openai-chat.otlp.jsonl',
    ];
    const requests = [
      ...texts.flatMap((file) => fixtureText(file).trim().split('\n').map(protoOf)),
      fixtureBytes('otlp-proto/collector-0.165-kafka-message.bin'),
    ];
    for (const request of requests) {
      for (let i = 0; i < 40; i++) {
        const mutated = mutations.mutate(request);
        expect(decode(mutated).outcomes).toEqual(general(mutated));
      }
    }
  });

  test('and reads a letter as the span was', () => {
    const requests = new RandomRequests(mulberry32(3), { oddShare: 0.05, spans: 4 });
    const { decode } = testProtoDecoder();
    for (let i = 0; i < 60; i++) {
      const { outcomes, letters } = decode(requests.next());
      for (const [j, letter] of letters.entries()) {
        if (letter === null) continue;
        const outcome = outcomes[j] as Exclude<Outcome, string>;
        const again = 'index' in outcome ? { ...outcome, index: 0 } : outcome;
        expect(decode(letter).outcomes).toEqual([again]);
      }
    }
  });

  test('with interners that are full', () => {
    const requests = new RandomRequests(mulberry32(8), { oddShare: 0.02, spans: 4 });
    const { decode } = testProtoDecoder(allPresets, 5);
    const general = generalPath(allPresets, 5);
    for (let i = 0; i < 30; i++) {
      const request = requests.next();
      expect(decode(request).outcomes).toEqual(general(request));
    }
  });

  test('after the interners were cleared', () => {
    const requests = new RandomRequests(mulberry32(4), { oddShare: 0, spans: 4 });
    const { options, decode } = testProtoDecoder();
    const general = generalPath();
    for (let i = 0; i < 30; i++) {
      options.values.clear();
      options.stages.clear();
      const request = requests.next();
      expect(decode(request).outcomes).toEqual(general(request));
    }
  });
});

const start = 1_795_609_800_000_000_000n;
const request = (...spans: readonly (readonly Buffer[])[]) =>
  bytesField(1, [
    bytesField(
      2,
      spans.map((span) => bytesField(2, span)),
    ),
  ]);
const attribute = (key: string, value: Buffer) =>
  bytesField(9, [bytesField(1, key), bytesField(2, value)]);
const call = [
  attribute('gen_ai.operation.name', bytesField(1, 'chat')),
  attribute('gen_ai.request.model', bytesField(1, 'm')),
];
const times = (from: bigint, to: bigint) => [fixed64Field(7, from), fixed64Field(8, to)];
const good = [...call, ...times(start, start + 2_000_000n)];

describe('bad input', () => {
  const { decode } = testProtoDecoder();

  test.each<[string, Buffer | null, string, RegExp]>([
    ['a tombstone', null, 'tombstone', /^The message must have a value/],
    [
      'a length that lies',
      Buffer.from([10, 5, 1]),
      'invalid_protobuf',
      /at byte 0, .* 1 bytes left/,
    ],
    ['field 0', Buffer.from([0x02, 0]), 'invalid_protobuf', /must be at least 1, and is 0/],
    ['field 2^29', varintField(2 ** 29, 1), 'invalid_protobuf', /must be below 2\^29/],
    ['a group', Buffer.from([0x0b, 0x0c]), 'invalid_protobuf', /must not be a group/],
    [
      'wire type 7',
      Buffer.from([0x0f]),
      'invalid_protobuf',
      /wire type of 0, 1, 2 or 5, and has 7/,
    ],
    ['an endless varint', Buffer.alloc(11, 0xff), 'invalid_protobuf', /at most 64 bits/],
    [
      'a resource that is a number',
      varintField(1, 1),
      'invalid_protobuf',
      /be a length, and is a varint/,
    ],
    [
      'JSON',
      Buffer.from('{"resourceSpans":[]}'),
      'invalid_protobuf',
      /looks like JSON of OTLP, which is the format otlp_json/,
    ],
    ['JSON of Zipkin', Buffer.from('[{"id":"a"}]'), 'invalid_protobuf', /a JSON list, as Zipkin/],
    ['a registry’s header', Buffer.from([0, 0, 0, 0, 7, 0]), 'invalid_protobuf', /schema id 7/],
    [
      'a span cut short',
      request([...good, Buffer.from([0x4a])]),
      'invalid_protobuf',
      /at its byte/,
    ],
    [
      'JSON of another kind',
      Buffer.from('{"ts":1,"model":"m"}'),
      'invalid_protobuf',
      /looks like JSON, but not of OTLP: read it by the format json/,
    ],
    ['no start', request([...call, fixed64Field(8, start)]), 'missing_ts', /ts must be/],
    ['no end', request([...call, fixed64Field(7, start)]), 'no_end', /must be set, and is 0/],
    ['end 0', request([...call, ...times(start, 0n)]), 'no_end', /must be set, and is 0/],
    [
      'an end before the start',
      request([...call, ...times(start, start - 5_000_000n)]),
      'ends_before_start',
      /ends 5 ms before/,
    ],
    ['no model', request([call[0]!, ...times(start, start)]), 'missing_model', /^model/],
  ])('%s is rejected', (_, message, reason, detail) => {
    const { outcomes, count, letters } = decode(message);
    expect(outcomes).toEqual([{ index: 0, reason, detail: expect.stringMatching(detail) }]);
    expect(count).toBe(1);
    if (message !== null && message.length < 100)
      expect(decode(letters[0]!).outcomes).toEqual(outcomes);
  });

  test('each span without a model is rejected as the first', () => {
    const { outcomes } = decode(
      request([call[0]!, ...times(start, start)], [call[0]!, ...times(start, start)]),
    );
    const detail = 'model must be a string of at most 256 UTF-8 bytes: it is missing';
    expect(outcomes).toEqual([0, 1].map((index) => ({ index, reason: 'missing_model', detail })));
  });

  test('a message without spans is valid and holds nothing', () => {
    const empty = [Buffer.alloc(0), bytesField(1, ''), request(), varintField(99, 1)];
    expect(empty.map((message) => decode(message))).toEqual(
      empty.map(() => ({ outcomes: [], letters: [], count: 0 })),
    );
  });

  test('a broken span costs no other, and counts in the index', () => {
    const broken = [varintField(5, 1)];
    const other = [bytesField(5, 'GET /')];
    const { outcomes, count } = decode(request(good, other, broken, good, broken));
    expect(count).toBe(5);
    expect(
      outcomes.map((outcome) => (typeof outcome === 'string' ? outcome : Object.keys(outcome)[0])),
    ).toEqual(['event', 'skipped', 'index', 'event', 'index']);
    expect(outcomes[2]).toMatchObject({ index: 2, reason: 'invalid_protobuf' });
    expect(outcomes[4]).toMatchObject({ index: 4 });
  });

  test('a broken resource rejects each of its spans, with all in the letter', () => {
    const resource = bytesField(1, [varintField(1, 1)]);
    const spans = bytesField(2, [bytesField(2, good), bytesField(2, good)]);
    const { outcomes, letters } = decode(bytesField(1, [spans, resource]));
    expect(outcomes).toMatchObject([
      { index: 0, reason: 'invalid_protobuf', detail: expect.stringMatching(/^The resource must/) },
      { index: 1, reason: 'invalid_protobuf' },
    ]);
    expect(letters[0]).toEqual(bytesField(1, [resource, bytesField(2, [bytesField(2, good)])]));
  });

  test('an envelope that breaks after its spans gives none of them', () => {
    const { outcomes } = decode(Buffer.concat([request(good, good), Buffer.from([0x0a])]));
    expect(outcomes).toMatchObject([{ index: 0, reason: 'invalid_protobuf' }]);
  });

  test('spans beyond the limit are one rejection', () => {
    const many = request(...new Array(100_001).fill([bytesField(5, 'x')]));
    const { outcomes, count } = decode(many);
    expect(count).toBe(100_001);
    expect(outcomes.at(-1)).toMatchObject({ index: 100_000, reason: 'too_many_events' });
  });

  test('the rest of a message with 10,000 invalid spans is one rejection', () => {
    const many = request(...new Array(10_005).fill([varintField(5, 1)]));
    const { outcomes, letters } = decode(many);
    expect(outcomes).toHaveLength(10_001);
    expect(outcomes.at(-1)).toMatchObject({ index: 10_000, reason: 'too_many_events' });
    expect(letters.at(-1)?.subarray(0, 2)).toEqual(varintField(5, 1));
  });

  test('nesting of 10^5 is no matter', () => {
    let value = bytesField(1, 'x');
    const parts: Buffer[] = [];
    for (let i = 0, length = value.length; i < 1e5; i++) {
      const list = [bytesField(5, ''), bytesField(1, '')].map((field) => field[0]!);
      const inner = lengthOf(length);
      const outer = lengthOf(length + 1 + inner.length);
      parts.push(Buffer.concat([Buffer.from([list[0]!]), outer, Buffer.from([list[1]!]), inner]));
      length += 2 + inner.length + outer.length;
    }
    value = Buffer.concat([...parts.reverse(), value]);
    const { outcomes } = decode(request([...good, attribute('deep', value)]));
    expect(outcomes).toMatchObject([{ event: { model: 'm' } }]);
  });

  test('a duration beyond a double is rejected, not counted', () => {
    const first = attribute('gen_ai.response.time_to_first_chunk', doubleField(4, 1e308));
    const { outcomes } = decode(request([...good, first]));
    expect(outcomes).toMatchObject([{ reason: 'bad_duration' }]);
  });
});

function lengthOf(value: number): Buffer {
  return varintField(1, value).subarray(1);
}
