import { describe, expect, it } from 'vitest';
import { compileAvro } from '../../../src/formats/records/avro/compile-avro.ts';
import { ByteCursor } from '../../../src/formats/records/byte-cursor.ts';
import { MessageReader } from '../../../src/formats/records/protobuf/compile-message.ts';
import { parseProto } from '../../../src/formats/records/protobuf/parse-proto.ts';
import { RecordFault } from '../../../src/formats/records/record-reader.ts';
import { SchemaFault } from '../../../src/formats/records/schema-fault.ts';
import { SeededRandom } from '../../base/seeded-random.ts';
import { fastestMs } from '../../fuzz/fastest-ms.ts';
import { fixture } from './decode-records.ts';

/** Cuts a text into words and signs, and leaves out, repeats, swaps or replaces some. */
function mutated(text: string, random: SeededRandom): string {
  const tokens = text.match(/\w+|\s+|[^\w\s]/g) ?? [];
  for (let left = random.between(1, 2); left > 0; left--) {
    const at = random.between(0, tokens.length - 1);
    const other = random.between(0, tokens.length - 1);
    switch (random.between(0, 3)) {
      case 0:
        tokens.splice(at, random.between(1, 3));
        break;
      case 1:
        tokens.splice(at, 0, ...tokens.slice(other, other + random.between(1, 30)));
        break;
      case 2:
        tokens[at] = tokens[other] ?? '';
        break;
      default:
        tokens[at] = random.pick([
          '__proto__',
          'constructor',
          '-1',
          '1e99',
          '{',
          '"',
          '[',
          'null',
          'map',
        ]);
    }
  }
  return tokens.join('');
}

/** Whether a schema can be used; it and bytes that are read by it fail in their own ways only. */
function isUsable(read: (cursor: ByteCursor) => unknown, bytes: Buffer): boolean {
  try {
    read(new ByteCursor(bytes, 0, bytes.length, 'invalid_avro'));
    return true;
  } catch (error) {
    if (error instanceof SchemaFault) return false;
    if (error instanceof RecordFault) return true;
    throw error;
  }
}

describe('changed schemas', () => {
  it.each([
    ['avro', 'kafka/timing.avsc', 4_000, (text: string) => compileAvro(text)],
    [
      'protobuf',
      'kafka/timing.proto',
      4_000,
      (text: string) => {
        const reader = new MessageReader(parseProto(text).at([0]));
        return (cursor: ByteCursor) => reader.read(cursor);
      },
    ],
  ] as const)('of %s are used or refused, and take no time', (_, file, rounds, compile) => {
    const random = new SeededRandom(41);
    const text = fixture(file).toString();
    let slowest = 0;
    let usable = 0;
    for (let i = 0; i < rounds; i++) {
      const changed = mutated(text, random);
      const bytes = Buffer.from(Array.from({ length: 40 }, () => random.between(0, 255)));
      const run = () => isUsable((cursor) => compile(changed)(cursor), bytes);
      if (run()) usable++;
      slowest = Math.max(slowest, fastestMs(run));
    }
    expect(slowest).toBeLessThanOrEqual(500);
    expect(usable).toBeGreaterThan(rounds * 0.05);
    expect(usable).toBeLessThan(rounds * 0.95);
  });
});
