import * as zlib from 'node:zlib';
import { Decompress, decompress } from 'fzstd';
import { InflateError } from './inflate-error.ts';

/** zlib's zstd functions, which exist in Node 22.15 and later. */
const native = zlib as unknown as {
  readonly zstdDecompressSync?: (
    bytes: Buffer,
    options: { maxOutputLength: number; params: Record<number, number> },
  ) => Buffer;
  readonly constants: { readonly ZSTD_d_windowLogMax?: number };
};

const MAGIC = 0xfd2fb528;
/** The window that every decoder must support (RFC 8878). A decoder keeps it in memory besides its output. */
const MAX_WINDOW_LOG = 23;

/**
 * Inflates Zstandard (RFC 8878) by Node where it can, else in JavaScript, up to `maxBytes`. Rejects frames
 * that need a window of more than 8 MiB.
 */
export function inflateZstd(bytes: Buffer, maxBytes: number): Buffer {
  if (bytes.length < 6 || bytes.readUInt32LE(0) !== MAGIC)
    throw new InflateError('be a Zstandard frame');
  if (native.zstdDecompressSync === undefined) return inflateInJavaScript(bytes, maxBytes);
  const windowLogMax = native.constants.ZSTD_d_windowLogMax ?? 100;
  return native.zstdDecompressSync(bytes, {
    maxOutputLength: maxBytes,
    params: { [windowLogMax]: windowLogOf(bytes, maxBytes) },
  });
}

/** A single-segment frame is its own window, which is at most as large as its content. */
function windowLogOf(bytes: Buffer, maxBytes: number): number {
  return isSingleSegment(bytes) ? Math.min(31, Math.ceil(Math.log2(maxBytes))) : MAX_WINDOW_LOG;
}

function isSingleSegment(bytes: Buffer): boolean {
  return ((bytes[4] as number) & 0x20) !== 0;
}

function inflateInJavaScript(bytes: Buffer, maxBytes: number): Buffer {
  const isWhole = isSingleSegment(bytes);
  const windowBytes = isWhole ? contentBytes(bytes) : windowOf(bytes[5] as number);
  const most = isWhole ? maxBytes : 2 ** MAX_WINDOW_LOG;
  if (windowBytes > most) {
    throw new InflateError(`need a window of at most ${most} bytes: it needs ${windowBytes}`);
  }
  // A lone frame that states its size is inflated in place.
  if (isWhole && frameEnd(bytes) === bytes.length) {
    const { buffer, byteOffset, byteLength } = decompress(bytes);
    return Buffer.from(buffer, byteOffset, byteLength);
  }
  const parts: Uint8Array[] = [];
  let total = 0;
  const stream = new Decompress((part) => {
    total += part.length;
    if (total > maxBytes) throw InflateError.tooLarge(maxBytes);
    parts.push(part);
  });
  stream.push(bytes, true);
  return Buffer.concat(parts, total);
}

function windowOf(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}

/** Content size of a single-segment frame (RFC 8878, section 3.1.1.1.4). */
function contentBytes(bytes: Buffer): number {
  const descriptor = bytes[4] as number;
  const at = 5 + ([0, 1, 2, 4][descriptor & 3] as number);
  const width = 1 << (descriptor >> 6);
  if (at + width > bytes.length) throw new InflateError('be a Zstandard frame: it is truncated');
  if (width === 8) return Number(bytes.readBigUInt64LE(at));
  return bytes.readUIntLE(at, width) + (width === 2 ? 256 : 0);
}

/** Finds the end of the frame by its block headers; NaN where it is truncated. */
function frameEnd(bytes: Buffer): number {
  const descriptor = bytes[4] as number;
  let at = 5 + ([0, 1, 2, 4][descriptor & 3] as number) + (1 << (descriptor >> 6));
  for (;;) {
    if (at + 3 > bytes.length) return Number.NaN;
    const header = bytes.readUIntLE(at, 3);
    at += 3 + (((header >> 1) & 3) === 1 ? 1 : header >> 3);
    if ((header & 1) === 1) return at + ((descriptor & 4) === 0 ? 0 : 4);
  }
}
