import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import kafkajs from 'kafkajs';
import { compressFrameSync } from 'lz4-napi';
import snappy from 'snappy';
import { messageOf } from '../../base/failure.ts';
import { InflateError } from './inflate-error.ts';
import { inflateLz4 } from './inflate-lz4.ts';
import { inflateSnappy } from './inflate-snappy.ts';
import { inflateZstd } from './inflate-zstd.ts';

const { CompressionCodecs, CompressionTypes } = kafkajs;

/** Limit for batches that kafkajs inflates itself. */
const MAX_BATCH_BYTES = 32 * 1024 * 1024;

type Inflate = (bytes: Buffer, maxBytes: number) => Buffer | Promise<Buffer>;

const unzip = promisify(zlib.unzip);

/** Inflates gzip (RFC 1952) off the main thread. */
const inflateGzip: Inflate = (bytes, maxBytes) =>
  unzip(bytes, { maxOutputLength: maxBytes, chunkSize: 64 * 1024 });

/** Formats and inflaters by the codec number in a batch's attributes. */
const codecs: readonly (readonly [format: string, inflate: Inflate])[] = [
  ['plain', (bytes) => bytes],
  ['gzip', inflateGzip],
  ['snappy', inflateSnappy],
  ['an LZ4 frame', inflateLz4],
  ['a Zstandard frame', inflateZstd],
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
  if (codecs[codec] === undefined) throw new InflateError('have a known compression codec');
  const [format, inflate] = codecs[codec];
  const refuse = (error: unknown): never => {
    throw inflateErrorOf(error, format, maxBytes);
  };
  try {
    const inflated = inflate(bytes, maxBytes);
    return inflated instanceof Promise ? inflated.catch(refuse) : inflated;
  } catch (error) {
    return refuse(error);
  }
}

function inflateErrorOf(error: unknown, format: string, maxBytes: number): InflateError {
  if (error instanceof InflateError) return error;
  if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') {
    return InflateError.tooLarge(maxBytes);
  }
  return new InflateError(`be ${format}: ${messageOf(error)}`);
}

/** zlib's zstd functions, which exist in Node 22.15 and later. */
const zstd = zlib as unknown as { readonly zstdCompressSync?: (bytes: Buffer) => Buffer };

const packers: Readonly<Record<number, (bytes: Buffer) => Buffer>> = {
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
      compress: async ({ buffer }: { readonly buffer: Buffer }) => pack(buffer),
      decompress: async (bytes: Buffer) => inflateRecords(bytes, Number(codec), MAX_BATCH_BYTES),
    });
  }
}
