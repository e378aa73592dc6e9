import kafkajs from 'kafkajs';
import snappy from 'snappy';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  decompressSnappy,
  decompressZstd,
  registerCompressionCodecs,
} from '../../src/source/compression.ts';
import { SeededRandom } from '../base/seeded-random.ts';

const { CompressionCodecs, CompressionTypes } = kafkajs;

const random = new SeededRandom(1);
const samples: readonly (readonly [string, Buffer])[] = [
  ['nothing', Buffer.alloc(0)],
  ['text', Buffer.from('{"ts":1,"model":"größe"}\n'.repeat(50))],
  ['noise', Buffer.from(Array.from({ length: 5_000 }, () => random.between(0, 255)))],
  ['much of the same', Buffer.alloc(300_000, 'a')],
];

/** Snappy as xerial's Java library frames it: a header, then blocks led by their length. */
function xerial(blocks: readonly Buffer[]): Buffer {
  const header = Buffer.concat([Buffer.from([0x82]), Buffer.from('SNAPPY\0'), Buffer.alloc(8)]);
  header.writeUInt32BE(1, 8);
  header.writeUInt32BE(1, 12);
  const framed = blocks.flatMap((block) => {
    const compressed = snappy.compressSync(block);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(compressed.length);
    return [length, compressed];
  });
  return Buffer.concat([header, ...framed]);
}

/**
 * A Zstandard frame by RFC 8878, section 3.1.1: magic, a descriptor that says single segment and an
 * 8-byte content size, then raw blocks (type 0) and run-length blocks (type 1).
 */
function zstdFrame(
  blocks: readonly (Buffer | { readonly byte: number; readonly times: number })[],
) {
  const sizes = blocks.map((block) => (Buffer.isBuffer(block) ? block.length : block.times));
  const header = Buffer.alloc(13);
  header.writeUInt32LE(0xfd2fb528, 0);
  header.writeUInt8(0b1110_0000, 4);
  header.writeBigUInt64LE(BigInt(sizes.reduce((sum, size) => sum + size, 0)), 5);
  const parts: Buffer[] = [header];
  blocks.forEach((block, i) => {
    const isLast = i === blocks.length - 1 ? 1 : 0;
    const type = Buffer.isBuffer(block) ? 0 : 1;
    const blockHeader = Buffer.alloc(3);
    blockHeader.writeUIntLE(((sizes[i] ?? 0) << 3) | (type << 1) | isLast, 0, 3);
    parts.push(blockHeader, Buffer.isBuffer(block) ? block : Buffer.from([block.byte]));
  });
  return Buffer.concat(parts);
}

/** `zstd -19` of a line of text 40 times: compressed blocks, a dictionary of sequences, a checksum. */
const zstdOfLines =
  'KLUv/QRoJQIA4gMOEZB9nOEQgwbdHSgk91Bxns4lYG8kyHlvlmVbn+v3O9d1kOHrwa2LlFl/l67V6cEUMlRC5P1i1wECACMjI3goAC8UOMrY';

describe('decompressSnappy', () => {
  it.each(samples)('takes plain snappy of %s', (_, bytes) => {
    expect(decompressSnappy(snappy.compressSync(bytes)).equals(bytes)).toBe(true);
  });

  it('takes the frames that Java producers write, of several blocks', () => {
    const blocks = [Buffer.from('{"a":1}'), Buffer.alloc(40_000, 'b'), Buffer.from('end')];
    expect(decompressSnappy(xerial(blocks)).equals(Buffer.concat(blocks))).toBe(true);
    expect(decompressSnappy(xerial([]))).toHaveLength(0);
  });

  it('refuses what is cut short', () => {
    const whole = xerial([Buffer.from('{"a":1}'.repeat(100))]);
    expect(() => decompressSnappy(whole.subarray(0, whole.length - 3))).toThrow();
    expect(() => decompressSnappy(Buffer.from('no snappy at all'))).toThrow();
  });
});

describe('decompressZstd', () => {
  it('takes raw and run-length blocks', () => {
    const frame = zstdFrame([Buffer.from('{"a":'), { byte: 0x37, times: 1_000 }, Buffer.from('}')]);
    expect(decompressZstd(frame).toString()).toBe(`{"a":${'7'.repeat(1_000)}}`);
  });

  it('takes compressed blocks', () => {
    const line = '{"ts":1789000000123,"model":"ranker","stages_ms":{"forward":51.7}}\n';
    expect(decompressZstd(Buffer.from(zstdOfLines, 'base64')).toString()).toBe(line.repeat(40));
  });

  it('refuses what is none, or cut short', () => {
    expect(() => decompressZstd(Buffer.from('no zstd at all'))).toThrow();
    expect(() => decompressZstd(Buffer.from(zstdOfLines, 'base64').subarray(0, 40))).toThrow();
  });
});

describe('the codecs that kafkajs is taught', () => {
  beforeAll(registerCompressionCodecs);

  it.each(samples)('bring %s back: lz4, snappy and, where Node has it, zstd', async (_, bytes) => {
    for (const type of [CompressionTypes.LZ4, CompressionTypes.Snappy, CompressionTypes.ZSTD]) {
      const { compress, decompress } = codecOf(type);
      if (type === CompressionTypes.ZSTD && !hasZstd) {
        await expect(compress({ buffer: bytes })).rejects.toThrow('use 22.15 or later, or lz4');
        continue;
      }
      expect((await decompress(await compress({ buffer: bytes }))).equals(bytes)).toBe(true);
    }
  });

  it('write lz4 as frames, which other clients read', async () => {
    const { compress } = codecOf(CompressionTypes.LZ4);
    const frame = await compress({ buffer: Buffer.from('x') });
    expect(frame.readUInt32LE(0)).toBe(0x184d2204);
  });

  it('read zstd on every Node', async () => {
    const { decompress } = codecOf(CompressionTypes.ZSTD);
    expect((await decompress(zstdFrame([Buffer.from('abc')]))).toString()).toBe('abc');
  });
});

interface Codec {
  compress(encoder: { readonly buffer: Buffer }): Promise<Buffer>;
  decompress(bytes: Buffer): Promise<Buffer>;
}

/** kafkajs types its table by some of its keys, and its codecs not at all. */
function codecOf(type: number): Codec {
  const table: Readonly<Record<number, () => Codec>> = CompressionCodecs;
  const make = table[type];
  if (make === undefined) throw new Error(`no codec ${type}`);
  return make();
}

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const hasZstd = major > 22 || (major === 22 && minor >= 15);
