import { recordReaderOf } from '../../src/topics/record-reader-of.ts';
import {
  documentedMapping,
  fixture,
  messagesOf,
  recordDecoder,
  schemasOf,
} from '../formats/records/decode-records.ts';
import { checkedDecode } from './checked-decode.ts';
import type { FuzzMessages } from './fuzz-messages.ts';

const WHOLE_SHARE = 0.1;
/** Messages that begin as one and end as another. */
const CROSSED_SHARE = 0.1;

const schemas = () =>
  schemasOf({
    1: { type: 'AVRO', text: fixture('kafka/timing.avsc').toString(), references: [] },
    3: { type: 'PROTOBUF', text: fixture('kafka/timing.proto').toString(), references: [] },
  });
const framing = 'confluent';

/** Decoders with a mapping each, and what is mutated for them. */
function makeSubjects() {
  const source = schemas();
  return [
    {
      reader: recordReaderOf({ format: 'avro', framing, schemas: source }),
      mapping: documentedMapping('avro'),
      corpus: messagesOf('kafka/timings_avro.jsonl'),
    },
    {
      reader: recordReaderOf({ format: 'protobuf', framing, schemas: source }),
      mapping: documentedMapping('protobuf'),
      corpus: messagesOf('kafka/timings_protobuf.jsonl'),
    },
    {
      reader: recordReaderOf({ format: 'json', framing }),
      mapping: documentedMapping('json'),
      corpus: messagesOf('kafka/timings_jsonschema.jsonl'),
    },
  ];
}

let subjects: ReturnType<typeof makeSubjects> | undefined;

/**
 * Gives recorded and mutated messages to the decoders of Avro, Protobuf and JSON by a mapping, and holds that
 * every item is given once.
 *
 * @throws where it does not hold. @returns the milliseconds of the slowest message.
 */
export function fuzzRecords(messages: FuzzMessages, count: number): number {
  subjects ??= makeSubjects();
  const decoders = subjects.map(({ reader, mapping, corpus }) => ({
    decoder: recordDecoder(reader, mapping).decoder,
    corpus,
  }));
  const random = () => messages.random();
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
  let slowestMs = 0;
  for (let i = 0; i < count; i++) {
    const { decoder, corpus } = pick(decoders);
    const kind = random();
    let message = pick(corpus);
    if (kind >= WHOLE_SHARE) message = messages.mutate(message);
    if (kind > 1 - CROSSED_SHARE) {
      const at = Math.floor(random() * message.length);
      message = Buffer.concat([message.subarray(0, at), pick(corpus).subarray(at)]);
    }
    slowestMs = Math.max(slowestMs, checkedDecode(decoder, message, i));
  }
  return slowestMs;
}
