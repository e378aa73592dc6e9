import { describe, expect, it } from 'vitest';
import type { RecordReader } from '../../../src/formats/records/record-reader.ts';
import { recordReaderOf } from '../../../src/topics/record-reader-of.ts';
import { SeededRandom } from '../../base/seeded-random.ts';
import { fastestMs } from '../../fuzz/fastest-ms.ts';
import {
  documentedMapping,
  fixture,
  messagesOf,
  recordDecoder,
  schemasOf,
} from './decode-records.ts';

const avsc = fixture('kafka/timing.avsc').toString();
const proto = fixture('kafka/timing.proto').toString();
const schemas = schemasOf({
  1: { type: 'AVRO', text: avsc, references: [] },
  3: { type: 'PROTOBUF', text: proto, references: [] },
});
const corpora: Readonly<Record<string, readonly Buffer[]>> = {
  avro: messagesOf('kafka/timings_avro.jsonl'),
  protobuf: messagesOf('kafka/timings_protobuf.jsonl'),
  json: messagesOf('kafka/timings_jsonschema.jsonl'),
};
const rounds = 20_000;
const slowestMs = 200;

/** Changes a message in a few places: bits, lengths, parts cut out, twice or from another one. */
function mutated(random: SeededRandom, corpus: readonly Buffer[]): Buffer {
  let message: Buffer = Buffer.from(random.pick(corpus));
  for (let left = random.between(1, 4); left > 0; left--) {
    const at = random.between(0, Math.max(0, message.length - 1));
    const to = random.between(at, message.length);
    const others = random.pick(corpus);
    switch (random.between(0, 5)) {
      case 0:
        if (message.length > 0) message[at] = (message[at] ?? 0) ^ (1 << random.between(0, 7));
        break;
      case 1:
        if (message.length > 0) message[at] = random.pick([0x00, 0x7f, 0x80, 0xff]);
        break;
      case 2:
        message = Buffer.concat([message.subarray(0, at), message.subarray(to)]);
        break;
      case 3:
        message = Buffer.concat([message.subarray(0, to), message.subarray(at)]);
        break;
      case 4: {
        const long = [0xff, 0xff, 0xff, 0xff, random.pick([0x0f, 0x7f, 0xff]), 0x01];
        message = Buffer.concat([message.subarray(0, at), Buffer.from(long), message.subarray(at)]);
        break;
      }
      default:
        message = Buffer.concat([message.subarray(0, at), others.subarray(at)]);
    }
  }
  return message;
}

describe.each([
  ['avro', recordReaderOf({ format: 'avro', framing: 'confluent', schemas })],
  ['protobuf', recordReaderOf({ format: 'protobuf', framing: 'confluent', schemas })],
  ['json', recordReaderOf({ format: 'json', framing: 'confluent' })],
] as [string, RecordReader][])('changed messages of %s', (name, reader) => {
  it('never make the decoder throw, are all counted, and take no time', () => {
    const random = new SeededRandom(40);
    const { decode } = recordDecoder(reader, documentedMapping(name));
    let slowest = 0;
    let events = 0;
    for (let i = 0; i < rounds; i++) {
      const message = mutated(random, corpora[name] ?? []);
      const { consumed, outcomes } = decode(message);
      slowest = Math.max(
        slowest,
        fastestMs(() => decode(message)),
      );
      expect(consumed).toBe(outcomes.length);
      events += outcomes.filter((outcome) => 'event' in outcome).length;
    }
    expect(slowest).toBeLessThanOrEqual(slowestMs);
    // Some changes are harmless, and most are not.
    expect(events).toBeGreaterThan(rounds * 0.02);
    expect(events).toBeLessThan(rounds * 0.8);
  });
});
