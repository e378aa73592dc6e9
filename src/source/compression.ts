import * as zlib from 'node:zlib';
import { decompress as fzstdDecompress } from 'fzstd';
import kafkajs from 'kafkajs';
import { compressFrameSync, decompressFrameSync } from 'lz4-napi';
import snappy from 'snappy';

const { CompressionCodecs, CompressionTypes } = kafkajs;

/** Most bytes a compressed record batch may grow to. */
const MAX_INFLATED_BYTES = 256 * 1024 * 1024;

/** zlib's zstd, where this Node has it (22.15 and later). */
const zstd = zlib as unknown as {
  readonly zstdDecompressSync?: (bytes: Buffer, options: { maxOutputLength: number }) => Buffer;
  readonly zstdCompressSync?: (bytes: Buffer) => Buffer;
};

let registered = false;

/**
 * Teaches kafkajs, which has gzip only, the codecs that producers use: LZ4 frames, Snappy (plain,
 * and in the framing of xerial's Java library, which Java producers write) and Zstandard.
 */
export function registerCompressionCodecs(): void {
  if (registered) return;
  registered = true;
  CompressionCodecs[CompressionTypes.LZ4] = () => ({
    compress: async (encoder: { buffer: Buffer }) => compressFrameSync(encoder.buffer),
    decompress: async (bytes: Buffer) => decompressFrameSync(bytes),
  });
  CompressionCodecs[CompressionTypes.Snappy] = () => ({
    compress: async (encoder: { buffer: Buffer }) => snappy.compressSync(encoder.buffer),
    decompress: async (bytes: Buffer) => decompressSnappy(bytes),
  });
  CompressionCodecs[CompressionTypes.ZSTD] = () => ({
    compress: async (encoder: { buffer: Buffer }) => {
      if (zstd.zstdCompressSync === undefined) {
        throw new Error('Cannot compress with zstd on this Node: use 22.15 or later, or lz4');
      }
      return zstd.zstdCompressSync(encoder.buffer);
    },
    decompress: async (bytes: Buffer) => decompressZstd(bytes),
  });
}

/** Magic of xerial's snappy framing: 0x82 "SNAPPY" 0, then two versions. */
const XERIAL_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0]);
const XERIAL_HEADER_BYTES = 16;

/** Snappy, plain or in xerial's frames of length-prefixed (big endian) blocks. */
export function decompressSnappy(bytes: Buffer): Buffer {
  if (!bytes.subarray(0, XERIAL_MAGIC.length).equals(XERIAL_MAGIC)) return snappyBlock(bytes);
  const blocks: Buffer[] = [];
  for (let at = XERIAL_HEADER_BYTES; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    blocks.push(snappyBlock(bytes.subarray(at + 4, at + 4 + length)));
    at += 4 + length;
  }
  return Buffer.concat(blocks);
}

function snappyBlock(bytes: Buffer): Buffer {
  const inflated = snappy.uncompressSync(bytes, { asBuffer: true });
  return Buffer.isBuffer(inflated) ? inflated : Buffer.from(inflated);
}

/** Zstandard: by Node itself where it can, else in JavaScript. */
export function decompressZstd(bytes: Buffer): Buffer {
  if (zstd.zstdDecompressSync !== undefined) {
    return zstd.zstdDecompressSync(bytes, { maxOutputLength: MAX_INFLATED_BYTES });
  }
  const inflated = fzstdDecompress(bytes);
  return Buffer.from(inflated.buffer, inflated.byteOffset, inflated.byteLength);
}
