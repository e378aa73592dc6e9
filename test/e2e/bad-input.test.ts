import kafkajs from 'kafkajs';
import snappy from 'snappy';
import { describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { dayMs, secondMs } from '../../src/base/time.ts';
import { type RejectReason, rejectReasons } from '../../src/decode/reject-reasons.ts';
import { createKafkaClient } from '../../src/kafka/client/kafka-client.ts';
import type { TopicMessage } from '../../src/kafka/follow-topic.ts';
import { useStack } from '../containers/stack.ts';
import { deadLetterKey } from './kit/dead-letter-key.ts';
import type { Rig } from './kit/rig.ts';
import { type CountedEvent, truthOf } from './kit/truth.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const { CompressionTypes } = kafkajs;
const codecRegistry: Record<number, () => object> = kafkajs.CompressionCodecs;

const nowMs = Date.now();
const hugeBytes = 50 * 1024 * 1024;

/** A message, and the result of each of its events: the counted event, or the reason of its rejection. */
interface Case {
  readonly name: string;
  readonly value: Buffer | string | null;
  readonly fate: readonly (CountedEvent | RejectReason)[];
  /** The events' own bytes, where the message has several. */
  readonly parts?: readonly string[];
}

const one = (name: string, value: Buffer | string | null, fate: CountedEvent | RejectReason) => ({
  name,
  value,
  fate: [fate],
});
/** A good event with some of its JSON replaced or added. */
const json = (changed: Record<string, unknown> = {}) =>
  JSON.stringify({ ts: nowMs, model: 'm', total_ms: 5, ...changed });
/** The same, with this text as `total_ms`. */
const written = (totalMs: string) => `{"ts":${nowMs},"model":"m","total_ms":${totalMs}}`;
const good: CountedEvent = { total_ms: 5 };
const deep = 100_000;
const stagesOf = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`s${n}`, 1]));
const lateMs = nowMs - 2 * dayMs;
/** An escape in the model's name takes it off the decoder's fast path. */
const lateInWords = json({ ts: lateMs }).replace('"m"', '"\\u006d"');
const lines = [
  json(),
  '{"ts":',
  json({ model: '' }),
  json({ total_ms: 7 }),
  '}',
  json({ ts: lateMs }),
  lateInWords,
];
const fateOfLines: Case['fate'] = [
  good,
  'invalid_json',
  'missing_model',
  { total_ms: 7 },
  'invalid_json',
  'late',
  'late',
];
const elements = [json(), '5', json({ ts: lateMs }), json({ status: 'x' }), json({ total_ms: 8 })];

const cases: readonly Case[] = [
  one('a good event', json(), good),
  one('not JSON', 'hello', 'invalid_json'),
  one('truncated JSON', json().slice(0, -1), 'invalid_json'),
  one(
    'truncated UTF-8',
    Buffer.concat([Buffer.from(`{"model":"caf`), Buffer.from([0xc3])]),
    'invalid_utf8',
  ),
  one('UTF-8 broken within', Buffer.from(json({ model: 'café' }), 'latin1'), 'invalid_utf8'),
  one('an empty message', '', 'empty_message'),
  one('a blank message', ' \r\n\t', 'empty_message'),
  one('an empty array', '[]', 'empty_message'),
  one('a tombstone', null, 'tombstone'),
  one('a number', '5', 'not_an_object'),
  one(
    'deep nesting',
    json({ x: 0 }).replace('"x":0', `"x":${'['.repeat(deep)}${']'.repeat(deep)}`),
    'too_deep',
  ),
  {
    name: 'deep nesting, never closed',
    value: '['.repeat(deep),
    fate: ['invalid_json'],
    parts: ['['.repeat(deep - 1)],
  },
  one('deep objects, never closed', '{"a":'.repeat(deep), 'too_deep'),
  one('50 MB', Buffer.alloc(hugeBytes, 'x'), 'message_too_large'),
  one(
    '__proto__ as an unknown field',
    json({ x: 0 }).replace('"x":0', '"__proto__":{"total_ms":1}'),
    good,
  ),
  one(
    'a model in __proto__ only',
    `{"ts":${nowMs},"__proto__":{"model":"m"},"total_ms":5}`,
    'missing_model',
  ),
  one('a stage called constructor', json({ stages_ms: { constructor: 2 } }), {
    total_ms: 5,
    stages_ms: { constructor: 2 },
  }),
  one('a key twice: the last counts', json().replace('{', '{"total_ms":9,'), good),
  one('NaN', written('NaN'), 'invalid_json'),
  one('Infinity', written('Infinity'), 'invalid_json'),
  one('1e999', written('1e999'), 'bad_duration'),
  one('1e308', written('1e308'), 'duration_too_large'),
  one('a negative duration', written('-0.001'), 'bad_duration'),
  one('minus zero', written('-0'), { total_ms: 0 }),
  one('a duration as text', written('"5"'), 'bad_duration'),
  one('a negative stage', json({ stages_ms: { forward: -1 } }), 'bad_duration'),
  one(
    'stages that add up to too much',
    json({ total_ms: undefined, stages_ms: { a: 3e6, b: 3e6 } }),
    'duration_too_large',
  ),
  one('stages as a list', json({ stages_ms: [1] }), 'bad_duration'),
  one('no durations', json({ total_ms: undefined }), 'missing_durations'),
  one('a stage called total', json({ stages_ms: { total: 5 } }), 'bad_stage_name'),
  one('a stage with a blank', json({ stages_ms: { 'a b': 5 } }), 'bad_stage_name'),
  one('64 stages', json({ stages_ms: stagesOf(64) }), { total_ms: 5, stages_ms: stagesOf(64) }),
  one('65 stages', json({ stages_ms: stagesOf(65) }), 'too_many_stages'),
  one('no model', json({ model: undefined }), 'missing_model'),
  one('an empty model', json({ model: '' }), 'missing_model'),
  one('a model that is a number', json({ model: 5 }), 'bad_dimension'),
  one('a model that is ours', json({ model: '__other__' }), 'bad_dimension'),
  one('a model too long', json({ model: 'm'.repeat(257) }), 'bad_dimension'),
  one('a region too long: it counts under another name', json({ region: 'r'.repeat(257) }), good),
  one('an unknown status', json({ status: 'fine' }), 'bad_status'),
  one('a negative batch size', json({ batch_size: -1 }), 'bad_field'),
  one('no ts', json({ ts: undefined }), 'missing_ts'),
  one('a ts that is a word', json({ ts: 'yesterday' }), 'bad_ts'),
  one('a ts in seconds', json({ ts: Math.floor(nowMs / 1000) }), 'ts_out_of_range'),
  one('a ts in microseconds', json({ ts: nowMs * 1000 }), 'ts_out_of_range'),
  one('the year 1970', json({ ts: 0 }), 'ts_out_of_range'),
  one('the year 2100', json({ ts: Date.UTC(2100, 0) }), 'ts_out_of_range'),
  one('the year 2099', json({ ts: Date.UTC(2099, 0) }), 'future'),
  one('ahead of the clock', json({ ts: nowMs + 10 * 60 * secondMs }), 'future'),
  one('behind the lateness allowed', json({ ts: nowMs - dayMs - 60 * secondMs }), 'late'),
  one('late, but not too late', json({ ts: nowMs - dayMs / 2 }), good),
  one('RFC 3339', json({ ts: new Date(nowMs).toISOString() }), good),
  one('a byte-order mark', `\uFEFF${json()}`, good),
  one('a late event that is written unusually', lateInWords, 'late'),
  { name: 'lines, good and bad', value: lines.join('\n'), fate: fateOfLines, parts: lines },
  {
    name: 'lines that end as on Windows',
    value: `${json()}\r\n\r\n${json({ total_ms: 6 })}\r\n`,
    fate: [good, { total_ms: 6 }],
  },
  {
    name: 'an array, good and bad',
    value: `[${elements.join(', ')}]`,
    fate: [good, 'not_an_object', 'late', 'bad_status', { total_ms: 8 }],
    parts: elements,
  },
  {
    name: 'an array of one that is no event',
    value: '[5]',
    fate: ['not_an_object'],
    parts: ['5'],
  },
  {
    name: 'an array that breaks off',
    value: `[${json()},${json().slice(0, 20)}`,
    fate: [good, 'invalid_json'],
    parts: [json(), json().slice(0, 20)],
  },
  {
    name: 'more events than a message may hold',
    value: `${json()}\n`.repeat(limits.eventsPerMessage + 5),
    fate: [...new Array<CountedEvent>(limits.eventsPerMessage).fill(good), 'too_many_events'],
  },
  one('a good event after all that', json({ total_ms: 3 }), { total_ms: 3 }),
];

const fates = cases.flatMap(({ fate }) => fate);
const counted = fates.filter((fate) => typeof fate !== 'string');
const refused = fates.filter((fate) => typeof fate === 'string');

/** Expected dead letters, in the order of the messages. */
const expected = cases.flatMap(({ name, value, fate, parts }, offset) =>
  fate.flatMap((reason, index) => {
    const bytes = fate.length === 1 && parts === undefined ? value : (parts?.[index] ?? '');
    return typeof reason === 'string' ? [{ name, offset, index, reason, bytes }] : [];
  }),
);

/** Reasons that timing events do not have. */
const ofFormats = [
  'invalid_protobuf',
  'invalid_avro',
  'unknown_schema',
  'no_end',
  'ends_before_start',
  'no_root',
  'several_roots',
  'late_span',
  'too_many_spans',
  'too_many_traces',
];

describe('bad input', () => {
  it('is rejected with its reason into the dead-letter topic, and costs no good event', () =>
    withRig({ stack, name: 'bad' }, async (rig) => {
      // The others are in bounds.test.ts, and those of other formats in formats/.
      const others = ['undecodable_batch', 'too_many_windows', ...ofFormats];
      expect(new Set([...refused, ...others])).toEqual(new Set(rejectReasons));
      await rig.start(['ingest']);
      await rig.publish(cases.map(({ value }) => ({ value, partition: 0 })));
      await rig.untilConsumed(fates.length);
      await rig.expectStages(truthOf(counted));
      const letters = await rig.read(`${rig.topic}.dlq`, refused.length);
      // One partition has them in the order of the events.
      expect(letters.map(deadLetterKey)).toEqual(
        expected.map(({ offset, index, reason }) => `${rig.topic}/0/${offset}/${index} ${reason}`),
      );
      letters.forEach((letter, n) => {
        expectBytes(letter, expected[n] as (typeof expected)[number]);
      });
      const { totals } = await rig.expectVerified();
      const late = refused.filter((reason) => reason === 'late').length;
      expect(totals).toMatchObject({
        consumed: fates.length,
        aggregated: counted.length,
        late,
        rejected: refused.length - late,
        overflow: 0,
      });
    }));

  /** Expects the event's own bytes, up to the limit, and a description of its problem. */
  function expectBytes(
    { value, headers }: TopicMessage,
    { name, bytes }: (typeof expected)[number],
  ) {
    const came = bytes === null ? null : Buffer.from(bytes);
    if (name !== 'more events than a message may hold') {
      const kept = came?.subarray(0, limits.deadLetterBytes) ?? null;
      expect([name, value?.toString('latin1')]).toEqual([name, kept?.toString('latin1')]);
      expect([name, headers['tailmark-truncated-from-bytes']]).toEqual([
        name,
        came !== null && came.length > limits.deadLetterBytes ? String(came.length) : undefined,
      ]);
    }
    expect(headers['tailmark-detail'], name).toMatch(/\w/);
  }
});

describe('a compressed topic', () => {
  const codecs = {
    gzip: CompressionTypes.GZIP,
    lz4: CompressionTypes.LZ4,
    snappy: CompressionTypes.Snappy,
    zstd: CompressionTypes.ZSTD,
  };

  it('is read, whatever compresses its batches: gzip, lz4, snappy, snappy of Xerial, zstd', () =>
    withRig({ stack, name: 'codecs' }, async (rig) => {
      await rig.start(['ingest']);
      const sent: { ts: number; model: string; total_ms: number }[] = [];
      for (const name of ['gzip', 'lz4', 'snappy', 'xerial snappy', 'zstd']) {
        const events = Array.from({ length: 500 }, (_, n) => ({
          ts: nowMs,
          model: `${name} ${n % 7}`,
          total_ms: n + 0.5,
        }));
        await produce(rig, name, events);
        sent.push(...events);
        await rig.untilConsumed(sent.length);
        const models = await rig.rows<{ n: string }>(
          'SELECT sum(requests) AS n FROM latency_10s WHERE startsWith(model, {name:String})',
          { name: `${name} ` },
        );
        expect([name, Number(models[0]?.n)]).toEqual([name, events.length]);
      }
      await rig.expectStages(truthOf(sent));
    }));

  async function produce(rig: Rig, name: string, events: readonly object[]): Promise<void> {
    const kafka = createKafkaClient(rig.config.kafka);
    const codec = codecs[name === 'xerial snappy' ? 'snappy' : (name as keyof typeof codecs)];
    const baseline = codecRegistry[codec] as () => object;
    const compress = ownCompressors[name];
    if (compress !== undefined) {
      codecRegistry[codec] = () => ({
        ...baseline(),
        compress: async ({ buffer }: { buffer: Buffer }) => compress(buffer),
      });
    }
    const producer = kafka.producer();
    try {
      await producer.connect();
      await producer.send({
        topic: rig.topic,
        compression: codec,
        messages: events.map((event) => ({ value: JSON.stringify(event), partition: 0 })),
      });
    } finally {
      await producer.disconnect();
      codecRegistry[codec] = baseline;
    }
  }
});

/** Compressions of Java producers, for which Node 20 has no compressor. */
const ownCompressors: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  'xerial snappy': xerialFrames,
  zstd: storedZstd,
};

/** Blocks of at most 32 KiB, each led by its length, after the header of Xerial's framing. */
function xerialFrames(bytes: Buffer): Buffer {
  const parts: Buffer[] = [
    Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1]),
  ];
  for (let at = 0; at < bytes.length; at += 32_768) {
    const block = snappy.compressSync(bytes.subarray(at, at + 32_768));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(block.length);
    parts.push(length, block);
  }
  return Buffer.concat(parts);
}

/** A Zstandard frame (RFC 8878) of raw blocks: magic, a window of 1 MiB, blocks of 64 KiB. */
function storedZstd(bytes: Buffer): Buffer {
  const parts: Buffer[] = [Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x50])];
  for (let at = 0; at < bytes.length; at += 65_536) {
    const block = bytes.subarray(at, at + 65_536);
    const isLast = at + 65_536 >= bytes.length;
    const header = Buffer.alloc(3);
    header.writeUIntLE((block.length << 3) | Number(isLast), 0, 3);
    parts.push(header, block);
  }
  return Buffer.concat(parts);
}
