import fc from 'fast-check';
import { expect, it } from 'vitest';
import { frameOf, messageIndexesAt } from '../../../src/formats/records/confluent-frame.ts';
import { RecordFault } from '../../../src/formats/records/record-reader.ts';

/** A number from 0 in zigzag, as a varint. */
function zigzag(value: number): number[] {
  const bytes: number[] = [];
  let left = value * 2;
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) + 128);
  return [...bytes, left];
}

const index = fc.oneof(fc.nat(5), fc.nat(2 ** 31 - 1));

it('ids and message indexes are read as they were written', () => {
  fc.assert(
    fc.property(
      fc.nat(2 ** 32 - 1),
      fc.array(index, { minLength: 1, maxLength: 32 }),
      fc.uint8Array({ maxLength: 9 }),
      (id, indexes, body) => {
        const header = Buffer.from([0, 0, 0, 0, 0]);
        header.writeUInt32BE(id, 1);
        const list = [...zigzag(indexes.length), ...indexes.flatMap(zigzag)];
        const message = Buffer.concat([header, Buffer.from(list), body]);
        expect(frameOf(message, undefined)).toEqual({ id, start: 5, rest: undefined });
        const start = message.length - body.length;
        expect(messageIndexesAt(message, 5)).toEqual({ indexes, start });
        const short = Buffer.concat([header, Buffer.from([0]), body]);
        expect(messageIndexesAt(short, 5)).toEqual({ indexes: [0], start: 6 });
      },
    ),
    { seed: 40, numRuns: 1_000 },
  );
});

it('any other bytes have indexes, or a fault', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const message = Buffer.from(bytes);
      const isFramed = bytes.length >= 5 && bytes[0] === 0;
      expect(frameOf(message, () => new Map())?.start).toBe(isFramed ? 5 : undefined);
      try {
        const { indexes, start } = messageIndexesAt(message, 0);
        expect(indexes.length).toBeGreaterThan(0);
        expect(indexes.every((each) => Number.isSafeInteger(each) && each >= 0)).toBe(true);
        expect(start).toBeLessThanOrEqual(message.length);
      } catch (error) {
        expect(error).toBeInstanceOf(RecordFault);
      }
    }),
    { seed: 41, numRuns: 2_000 },
  );
});
