import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { crc32c } from '../../../src/kafka/protocol/crc32c.ts';
import { mulberry32 } from '../../base/seeded-random.ts';

/** The definition: bit by bit. */
function referenceOf(bytes: Uint8Array): number {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc >>> 0;
}

function randomBytes(length: number, seed: number): Uint8Array {
  const random = mulberry32(seed);
  return Uint8Array.from({ length }, () => Math.floor(random() * 256));
}

describe('CRC-32C', () => {
  const counted = Uint8Array.from({ length: 32 }, (_, i) => i);

  it.each<[string, Uint8Array, string]>([
    ['nothing', new Uint8Array(0), '0'],
    ['"123456789"', Buffer.from('123456789'), 'e3069283'],
    ['32 bytes of 0', new Uint8Array(32), '8a9136aa'],
    ['32 bytes of ff', new Uint8Array(32).fill(0xff), '62a8ab43'],
    ['0 to 31', counted, '46dd794e'],
    ['31 to 0', counted.toReversed(), '113fdb5c'],
  ])('of %s is as RFC 3720 (B.4) and others give it', (_, bytes, hex) => {
    expect(crc32c(bytes).toString(16)).toBe(hex);
  });

  it('is that of the definition, for any bytes, wherever they begin', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(3), (bytes, start) => {
        const view = bytes.subarray(start);
        expect(crc32c(view)).toBe(referenceOf(view));
      }),
    );
  });

  // The kernel works by tables, with one polynomial and with two, and by blocks of 256 KiB.
  const [two, three, block] = [2 * 79 * 16, 2 * 209 * 16, 262_144];
  const edges = [two, three, block, 2 * block].flatMap((length) =>
    [-17, -16, -1, 0, 1, 15, 16, 17].map((beside) => length + beside),
  );

  it.each([...edges, 4_096, 10_001, 100_003])(
    'is that of the definition for %i bytes',
    (length) => {
      const bytes = randomBytes(length, length);
      expect(crc32c(bytes)).toBe(referenceOf(bytes));
    },
  );

  it('differs when any one bit differs', () => {
    const bytes = randomBytes(7_001, 3);
    const right = crc32c(bytes);
    for (let at = 0; at < bytes.length; at += 13) {
      const byte = bytes[at] as number;
      bytes[at] = byte ^ (1 << (at % 8));
      expect(crc32c(bytes)).not.toBe(right);
      bytes[at] = byte;
    }
    expect(crc32c(bytes)).toBe(right);
  });
});
