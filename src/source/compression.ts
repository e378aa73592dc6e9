import * as zlib from 'node:zlib';
import kafkajs from 'kafkajs';
import { compressFrameSync } from 'lz4-napi';
import snappy from 'snappy';
import { inflateGzip } from './inflate-gzip.ts';
import { inflateLz4 } from './inflate-lz4.ts';
import { inflateSnappy } from './inflate-snappy.ts';
import { inflateZstd } from './inflate-zstd.ts';
import { RecordBatchReader } from './record-batch-reader.ts';

const { CompressionCodecs, CompressionTypes } = kafkajs;

/** Most bytes a record batch may inflate to where nobody has said otherwise. */
const DEFAULT_MAX_BATCH_BYTES = 32 * 1024 * 1024;
const NO_CODEC = 0;
/** Numbers that the format has room for and no codec stands for. */
const UNKNOWN_CODECS = [5, 6, 7];

/** zlib's zstd, where this Node has it (22.15 and later). */
const zstd = zlib as unknown as { readonly zstdCompressSync?: (bytes: Buffer) => Buffer };

interface Encoded {
  readonly buffer: Buffer;
}

let isRegistered = false;
/** What kafkajs asks for by the number in a batch's attributes; its own types know five. */
const registry = CompressionCodecs as Record<number, () => object>;

/**
 * Teaches kafkajs, which has gzip only, the codecs that producers use: LZ4 frames, Snappy and
 * Zstandard; and puts a bound on each, as gzip's own inflates whatever it is given. A batch that
 * cannot be decoded becomes substitutes, which are counted as rejected (RecordBatchReader).
 *
 * Uncompressed batches pass through the same checks: kafkajs looks for codec 0 as for any other.
 * The registry belongs to the process, and so does the bound: it stays until another is given.
 */
export function registerCompressionCodecs(maxBatchBytes?: number): void {
  if (isRegistered && maxBatchBytes === undefined) return;
  isRegistered = true;
  const reader = new RecordBatchReader(maxBatchBytes ?? DEFAULT_MAX_BATCH_BYTES);
  registry[NO_CODEC] = () => ({
    decompress: (bytes: Buffer) => reader.read(bytes, NO_CODEC, 'uncompressed', (plain) => plain),
  });
  registry[CompressionTypes.GZIP] = () => ({
    compress: async (encoder: Encoded) => zlib.gzipSync(encoder.buffer),
    decompress: (bytes: Buffer) => reader.read(bytes, CompressionTypes.GZIP, 'gzip', inflateGzip),
  });
  registry[CompressionTypes.Snappy] = () => ({
    compress: async (encoder: Encoded) => snappy.compressSync(encoder.buffer),
    decompress: (bytes: Buffer) =>
      reader.read(bytes, CompressionTypes.Snappy, 'snappy', inflateSnappy),
  });
  registry[CompressionTypes.LZ4] = () => ({
    compress: async (encoder: Encoded) => compressFrameSync(encoder.buffer),
    decompress: (bytes: Buffer) => reader.read(bytes, CompressionTypes.LZ4, 'lz4', inflateLz4),
  });
  registry[CompressionTypes.ZSTD] = () => ({
    compress: async (encoder: Encoded) => {
      if (zstd.zstdCompressSync === undefined) {
        throw new Error('Cannot compress with zstd on this Node: use 22.15 or later, or lz4');
      }
      return zstd.zstdCompressSync(encoder.buffer);
    },
    decompress: (bytes: Buffer) => reader.read(bytes, CompressionTypes.ZSTD, 'zstd', inflateZstd),
  });
  for (const codec of UNKNOWN_CODECS) {
    registry[codec] = () => ({
      decompress: (bytes: Buffer) => reader.readUnknown(bytes, codec),
    });
  }
}
