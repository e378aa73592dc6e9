// Covers src/kafka/compression/inflate-error.ts, src/kafka/compression/inflate-lz4.ts,
// src/kafka/compression/inflate-snappy.ts and src/kafka/compression/inflate-zstd.ts.

import { deflateSync, gzipSync } from 'node:zlib';
import kafkajs from 'kafkajs';
import { compressFrameSync, compressSync, decompressFrameSync } from 'lz4-napi';
import snappy from 'snappy';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  inflateRecords,
  registerCompressionCodecs,
} from '../../../src/kafka/compression/compression.ts';
import { InflateError } from '../../../src/kafka/compression/inflate-error.ts';
import { SeededRandom } from '../../base/seeded-random.ts';
import { codecOf, decodeAsKafkajs, encodeBatch, recordsOf } from '../record-batch.ts';
import { zstdFrame } from './zstd-frame.ts';

const { CompressionTypes } = kafkajs;
const maxBytes = 1 << 20;

const inflaterOf = (codec: number) => (bytes: Buffer, most: number) =>
  inflateRecords(bytes, codec, most) as Buffer;
const inflateGzip = inflaterOf(CompressionTypes.GZIP);
const inflateSnappy = inflaterOf(CompressionTypes.Snappy);
const inflateLz4 = inflaterOf(CompressionTypes.LZ4);
const inflateZstd = inflaterOf(CompressionTypes.ZSTD);

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

/** `zstd -19` of a line of text 40 times: compressed blocks, a dictionary of sequences, a checksum. */
const zstdOfLines =
  'KLUv/QRoJQIA4gMOEZB9nOEQgwbdHSgk91Bxns4lYG8kyHlvlmVbn+v3O9d1kOHrwa2LlFl/l67V6cEUMlRC5P1i1wECACMjI3goAC8UOMrY';

describe('inflateSnappy', () => {
  it.each(samples)('accepts plain snappy of %s', (_, bytes) => {
    expect(inflateSnappy(snappy.compressSync(bytes), maxBytes).equals(bytes)).toBe(true);
  });

  it('accepts the frames that Java producers write, of several blocks', () => {
    const blocks = [Buffer.from('{"a":1}'), Buffer.alloc(40_000, 'b'), Buffer.from('end')];
    expect(inflateSnappy(xerial(blocks), maxBytes).equals(Buffer.concat(blocks))).toBe(true);
    expect(inflateSnappy(xerial([]), maxBytes)).toHaveLength(0);
  });

  it('refuses truncated data', () => {
    const whole = xerial([Buffer.from('{"a":1}'.repeat(100))]);
    expect(() => inflateSnappy(whole.subarray(0, whole.length - 3), maxBytes)).toThrow();
    expect(() => inflateSnappy(Buffer.from('no snappy at all'), maxBytes)).toThrow();
  });
});

describe('inflateZstd', () => {
  it('accepts raw and run-length blocks', () => {
    const frame = zstdFrame([Buffer.from('{"a":'), { byte: 0x37, times: 1_000 }, Buffer.from('}')]);
    expect(inflateZstd(frame, maxBytes).toString()).toBe(`{"a":${'7'.repeat(1_000)}}`);
  });

  it('accepts compressed blocks', () => {
    const line = '{"ts":1789000000123,"model":"ranker","stages_ms":{"forward":51.7}}\n';
    expect(inflateZstd(Buffer.from(zstdOfLines, 'base64'), maxBytes).toString()).toBe(
      line.repeat(40),
    );
  });

  it('passes over skippable frames, wherever they stand', () => {
    const skippable = (magic: number, bytes: number) => {
      const frame = Buffer.alloc(8 + bytes, 0x28);
      frame.writeUInt32LE(magic, 0);
      frame.writeUInt32LE(bytes, 4);
      return frame;
    };
    const [a, b] = [zstdFrame([Buffer.from('a')]), zstdFrame([Buffer.from('b')], 20)];
    const [first, last] = [skippable(0x184d2a50, 0), skippable(0x184d2a5f, 300)];
    for (const frames of [
      [first, a, b],
      [a, last, b],
      [a, b, first, last],
    ]) {
      expect(inflateZstd(Buffer.concat(frames), maxBytes).toString()).toBe('ab');
    }
    for (const frames of [[first], [a, last.subarray(0, 9)], [a, Buffer.from('more bytes')]]) {
      expect(() => inflateZstd(Buffer.concat(frames), maxBytes)).toThrow(InflateError);
    }
  });

  it('accepts frames of nothing', () => {
    expect(inflateZstd(zstdFrame([Buffer.alloc(0)]), maxBytes)).toHaveLength(0);
    expect(inflateZstd(zstdFrame([Buffer.alloc(0)], 27), maxBytes)).toHaveLength(0);
  });

  it('refuses other and truncated data', () => {
    expect(() => inflateZstd(Buffer.from('no zstd at all'), maxBytes)).toThrow();
    expect(() =>
      inflateZstd(Buffer.from(zstdOfLines, 'base64').subarray(0, 40), maxBytes),
    ).toThrow();
  });
});

/** An LZ4 frame by its format's text: no checksums, blocks of at most 64 KiB. */
function lz4Frame(blocks: readonly Buffer[]): Buffer {
  const parts = blocks.flatMap((block) => {
    const size = Buffer.alloc(4);
    size.writeUInt32LE(block.length);
    return [size, block];
  });
  const head = compressFrameSync(Buffer.alloc(100, 'a')).subarray(0, 7);
  return Buffer.concat([head, ...parts, Buffer.alloc(4)]);
}

describe('inflateLz4', () => {
  const lines = Buffer.from(
    Array.from({ length: 5_000 }, (_, i) => `{"ts":${i * 7919},"model":"m${i % 7}"}\n`).join(''),
  );
  const noise = Buffer.from(Array.from({ length: 70_000 }, () => random.between(0, 255)));
  const blockBytes = 64 * 1024;
  const pieces = (bytes: Buffer) =>
    Array.from({ length: Math.ceil(bytes.length / blockBytes) }, (_, i) =>
      bytes.subarray(i * blockBytes, (i + 1) * blockBytes),
    );
  const blockOf = (bytes: Buffer, dictionary?: Buffer) => {
    const packed = compressSync(bytes, dictionary).subarray(4);
    const isStored = dictionary === undefined && packed.length >= bytes.length;
    const size = Buffer.alloc(4);
    size.writeUInt32LE(isStored ? bytes.length + 2 ** 31 : packed.length);
    return Buffer.concat([size, isStored ? bytes : packed]);
  };
  /** Frames of blocks of 64 KiB; the check bytes are those of these headers by xxHash32. */
  const frameOf = (head: readonly number[], blocks: readonly Buffer[]) =>
    Buffer.concat([Buffer.from([0x04, 0x22, 0x4d, 0x18, ...head]), ...blocks, Buffer.alloc(4)]);
  const independent = [0x60, 0x40, 0x82];

  it.each([
    ['text', lines],
    ['noise, which is stored as it is', noise],
    ['both', Buffer.concat([lines, noise, lines])],
  ])('equals the library for frames of independent blocks: %s', (_, bytes) => {
    const frame = frameOf(
      independent,
      pieces(bytes).map((piece) => blockOf(piece)),
    );
    expect(decompressFrameSync(frame).equals(bytes)).toBe(true);
    expect(inflateLz4(frame, maxBytes).equals(bytes)).toBe(true);
    expect(inflateLz4(compressFrameSync(bytes), maxBytes).equals(bytes)).toBe(true);
  });

  it('returns only memory of its own', () => {
    const frame = frameOf(independent, [blockOf(noise.subarray(0, 1_000))]);
    const found = inflateLz4(frame, maxBytes);
    frame.fill(0);
    expect(found.equals(noise.subarray(0, 1_000))).toBe(true);
  });

  it('accepts blocks that refer to the one before, and checksums', () => {
    const [first = lines, second = lines] = pieces(lines);
    const linked = frameOf([0x40, 0x40, 0xc0], [blockOf(first), blockOf(second, first)]);
    const both = Buffer.concat([first, second]);
    expect(inflateLz4(linked, maxBytes).equals(both)).toBe(true);
    const checked = compressFrameSync(lines, { contentChecksum: true, blockChecksums: true });
    expect(inflateLz4(checked, maxBytes).equals(lines)).toBe(true);
    checked[checked.length - 1] = (checked.at(-1) as number) ^ 1;
    expect(() => inflateLz4(checked, maxBytes)).toThrow(InflateError);
  });

  it('accepts a stated size, and refuses a wrong one', () => {
    const sized = (size: number) => {
      const bytes = Buffer.alloc(8);
      bytes.writeBigUInt64LE(BigInt(size));
      return frameOf([0x68, 0x40, ...bytes, 0], [blockOf(lines.subarray(0, 50_000))]);
    };
    expect(inflateLz4(sized(50_000), maxBytes).equals(lines.subarray(0, 50_000))).toBe(true);
    expect(() => inflateLz4(sized(50_001), maxBytes)).toThrow('its size must match its header');
  });

  it('refuses broken blocks, and blocks larger than their header allows', () => {
    const tooLarge = frameOf(independent, [blockOf(Buffer.alloc(blockBytes + 1, 'a'))]);
    expect(() => inflateLz4(tooLarge, maxBytes)).toThrow(InflateError);
    const block = blockOf(lines.subarray(0, 1_000));
    // The first match reaches back before the beginning.
    const broken = Buffer.concat([Buffer.from([5, 0, 0, 0, 0x10, 0x61, 0xff, 0xff, 0]), block]);
    expect(() => inflateLz4(frameOf(independent, [broken]), maxBytes)).toThrow(InflateError);
  });
});

const inflated = 1 << 20;
/** Inflates a megabyte of zeros. */
const bombs: readonly [string, (maxBytes: number) => Buffer | Promise<Buffer>][] = [
  ['gzip', (max) => inflateGzip(gzipSync(Buffer.alloc(inflated)), max)],
  ['deflate', (max) => inflateGzip(deflateSync(Buffer.alloc(inflated)), max)],
  ['snappy', (max) => inflateSnappy(snappy.compressSync(Buffer.alloc(inflated)), max)],
  [
    'xerial snappy',
    (max) => inflateSnappy(xerial(new Array(32).fill(Buffer.alloc(inflated / 32))), max),
  ],
  ['lz4', (max) => inflateLz4(compressFrameSync(Buffer.alloc(inflated)), max)],
  ['zstd that says its size', (max) => inflateZstd(zstdFrame(zeros), max)],
  ['zstd that does not', (max) => inflateZstd(zstdFrame(zeros, 20), max)],
];
const zeros = new Array(8).fill({ byte: 0, times: inflated / 8 });

describe('a bound on what is inflated', () => {
  it.each(bombs)('allows %s of exactly the limit, and no byte more', async (_, inflate) => {
    expect((await inflate(inflated)).equals(Buffer.alloc(inflated))).toBe(true);
    await expect((async () => inflate(inflated - 1))()).rejects.toThrow(InflateError);
    await expect((async () => inflate(inflated - 1))()).rejects.toThrow(
      /^inflate to at most|window/,
    );
  });

  it('does not count small lz4 blocks as full ones', () => {
    // "a", then its repetition: 20 bytes of one sequence, and five literals at the end.
    const block = Buffer.from([0x1f, 0x61, 1, 0, 0, 0x50, 0x61, 0x61, 0x61, 0x61, 0x61]);
    const frame = lz4Frame(new Array(100).fill(block));
    expect(inflateLz4(frame, 2_500).toString()).toBe('a'.repeat(2_500));
    expect(() => inflateLz4(frame, 2_499)).toThrow(InflateError);
  });

  it.each([10, 17, 23, 24, 27, 31, 41])('holds whatever window zstd names: 2^%i', (windowLog) => {
    const frame = zstdFrame([Buffer.from('a'), { byte: 0x62, times: 1_000 }], windowLog);
    const before = Buffer.from(frame);
    expect(inflateZstd(frame, 1_001).toString()).toBe(`a${'b'.repeat(1_000)}`);
    expect(() => inflateZstd(frame, 1_000)).toThrow('inflate to at most 1000 bytes');
    expect(frame.equals(before)).toBe(true);
  });

  it('is of all zstd frames of a batch together', () => {
    const frames = Buffer.concat([zstdFrame(zeros), zstdFrame(zeros, 20)]);
    expect(inflateZstd(frames, 2 * inflated).equals(Buffer.alloc(2 * inflated))).toBe(true);
    expect(() => inflateZstd(frames, 2 * inflated - 1)).toThrow(InflateError);
  });

  it('refuses bytes of no codec, with an error of its own', async () => {
    const noise = Buffer.from(Array.from({ length: 300 }, () => random.between(0, 255)));
    const all = [inflateGzip, inflateSnappy, inflateLz4, inflateZstd];
    for (const inflate of all) {
      for (const bytes of [noise, Buffer.alloc(0), Buffer.alloc(3)]) {
        await expect((async () => inflate(bytes, inflated))()).rejects.toThrow(InflateError);
      }
    }
  });
});

describe('the codecs registered with kafkajs', () => {
  beforeAll(() => registerCompressionCodecs());
  const values = ['{"ts":1,"model":"größe"}', null, '', 'x'.repeat(70_000)];
  const records = recordsOf(values);
  const types = [
    CompressionTypes.GZIP,
    CompressionTypes.Snappy,
    CompressionTypes.LZ4,
    CompressionTypes.ZSTD,
  ];

  it.each(types)('restore records that they have compressed: %i', async (codec) => {
    const { compress } = codecOf(codec);
    if (codec === CompressionTypes.ZSTD && !hasZstd) {
      await expect(compress({ buffer: records })).rejects.toThrow('use 22.15 or later, or lz4');
    }
    const isOurs = codec === CompressionTypes.ZSTD && !hasZstd;
    const payload = isOurs ? zstdFrame([records]) : await compress({ buffer: records });
    const messages = await decodeAsKafkajs([
      encodeBatch({ baseOffset: 7, codec, count: values.length, payload }),
    ]);
    expect(messages.map(({ offset }) => offset)).toEqual(['7', '8', '9', '10']);
    expect(messages.map(({ value }) => value?.toString() ?? null)).toEqual(values);
  });

  it('write lz4 as frames, which other clients read', async () => {
    const { compress } = codecOf(CompressionTypes.LZ4);
    const frame = await compress({ buffer: Buffer.from('x') });
    expect(frame.readUInt32LE(0)).toBe(0x184d2204);
  });
});

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const hasZstd = major > 22 || (major === 22 && minor >= 15);
