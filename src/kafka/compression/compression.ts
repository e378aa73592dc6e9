import * as zlib from 'node:zlib';
import kafkajs from 'kafkajs';
import { compressFrameSync } from 'lz4-napi';
import snappy from 'snappy';
import { InflateError } from './inflate-error.ts';
import { inflateGzip } from './inflate-gzip.ts';
import { inflateLz4 } from './inflate-lz4.ts';
import { inflateSnappy } from './inflate-snappy.ts';
import { inflateZstd } from './inflate-zstd.ts';

const { CompressionCodecs, CompressionTypes } = kafkajs;

/** Limit for batches that kafkajs inflates itself. */
const MAX_BATCH_BYTES = 32 * 1024 * 1024;

type Inflate = (bytes: Buffer, maxBytes: number) => Buffer | Promise<Buffer>;

/** Inflaters by the codec number in a batch's attributes. */
const inflaters: readonly Inflate[] = [
  (plain) => plain,
  inflateGzip,
  inflateSnappy,
  inflateLz4,
  inflateZstd,
];

/**
 * Inflates the records of a batch.
 *
 * @throws InflateError where they exceed `maxBytes`, are corrupt, or have an unknown codec.
 */
export function inflateRecords(
  bytes: Buffer,
  codec: number,
  maxBytes: number,
): Buffer | Promise<Buffer> {
  const inflate = inflaters[codec];
  if (inflate === undefined) throw new InflateError('have a known compression codec');
  return inflate(bytes, maxBytes);
}

/** zlib's zstd functions, which exist in Node 22.15 and later. */
const zstd = zlib as unknown as { readonly zstdCompressSync?: (bytes: Buffer) => Buffer };

interface Encoded {
  readonly buffer: Buffer;
}

type Pack = (bytes: Buffer) => Buffer;

const packers: Readonly<Record<number, Pack>> = {
  [CompressionTypes.GZIP]: (bytes) => zlib.gzipSync(bytes),
  [CompressionTypes.Snappy]: (bytes) => snappy.compressSync(bytes),
  [CompressionTypes.LZ4]: (bytes) => compressFrameSync(bytes),
  [CompressionTypes.ZSTD]: (bytes) => {
    if (zstd.zstdCompressSync !== undefined) return zstd.zstdCompressSync(bytes);
    throw new Error('Cannot compress with zstd on this Node: use 22.15 or later, or lz4');
  },
};

let isRegistered = false;

/**
 * Registers LZ4 frames, Snappy and Zstandard with kafkajs, which supports gzip only. Every codec, gzip too,
 * gets a limit on the inflated size.
 */
export function registerCompressionCodecs(): void {
  if (isRegistered) return;
  isRegistered = true;
  const registry = CompressionCodecs as Record<number, () => object>;
  for (const [codec, pack] of Object.entries(packers)) {
    registry[Number(codec)] = () => ({
      compress: async ({ buffer }: Encoded) => pack(buffer),
      decompress: async (bytes: Buffer) => inflateRecords(bytes, Number(codec), MAX_BATCH_BYTES),
    });
  }
}
