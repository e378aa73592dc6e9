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
/** The 16 magics of skippable frames (RFC 8878, section 3.1.2), which hold what is no content. */
const SKIPPABLE = 0x184d2a50;
const BLOCK_BYTES = 128 * 1024;
/** A decoder keeps the window besides its output. This is the one that every decoder must support (RFC 8878). */
const PLAIN_WINDOW_LOG = 23;

interface Frame {
  readonly bytes: Buffer;
  /** A single segment states the size of its content, which is its window. */
  readonly contentBytes: number | undefined;
  /** Content can be no larger, by the headers of its blocks. */
  readonly mostBytes: number;
}

/**
 * Inflates the frames of Zstandard (RFC 8878) by Node where it can, else in JavaScript, up to `maxBytes` in
 * all. A frame may name any window: levels 20 to 22 name 128 MiB for a batch of any size. Memory that its
 * content cannot fill is not allocated.
 */
export function inflateZstd(bytes: Buffer, maxBytes: number): Buffer {
  const frames = framesOf(bytes);
  if (frames.length === 0) throw new InflateError('be a Zstandard frame');
  let rest = maxBytes;
  const parts = frames.map((frame) => {
    const part = inflateFrame(frame, rest);
    rest -= part.length;
    if (rest < 0) throw InflateError.tooLarge(maxBytes);
    return part;
  });
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
}

function inflateFrame(frame: Frame, maxBytes: number): Buffer {
  const { contentBytes } = frame;
  if (contentBytes !== undefined && contentBytes > maxBytes) throw InflateError.tooLarge(maxBytes);
  if (contentBytes === 0) return Buffer.alloc(0);
  const bytes = contentBytes === undefined ? withLeastWindow(frame, maxBytes) : frame.bytes;
  if (native.zstdDecompressSync === undefined) return inflateInJavaScript(bytes, maxBytes, frame);
  const windowLogMax = native.constants.ZSTD_d_windowLogMax ?? 100;
  return native.zstdDecompressSync(bytes, {
    // zlib refuses 0, which leaves room for no byte of this frame.
    maxOutputLength: Math.max(1, maxBytes),
    params: { [windowLogMax]: 31 },
  });
}

function inflateInJavaScript(bytes: Buffer, maxBytes: number, { contentBytes }: Frame): Buffer {
  // A frame that states its size is inflated in place.
  if (contentBytes !== undefined) {
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

/** The frame, with the smallest window that holds all its content, if its own exceeds 2^PLAIN_WINDOW_LOG. */
function withLeastWindow({ bytes, mostBytes }: Frame, maxBytes: number): Buffer {
  const windowLog = 10 + ((bytes[5] as number) >> 3);
  const least = Math.ceil(Math.log2(Math.max(BLOCK_BYTES, Math.min(mostBytes, 2 * maxBytes))));
  if (windowLog < PLAIN_WINDOW_LOG || windowLog < least) return bytes;
  const copy = Buffer.from(bytes);
  copy[5] = (Math.max(PLAIN_WINDOW_LOG, least) - 10) << 3;
  return copy;
}

/** Finds the frames by their headers and those of their blocks; leaves skippable ones out. */
function framesOf(bytes: Buffer): Frame[] {
  const frames: Frame[] = [];
  let at = 0;
  while (at < bytes.length) {
    if (at + 8 > bytes.length) throw truncated();
    const magic = bytes.readUInt32LE(at);
    if (magic >>> 4 === SKIPPABLE >>> 4) {
      at += 8 + bytes.readUInt32LE(at + 4);
      if (at > bytes.length) throw truncated();
    } else {
      if (magic !== MAGIC) throw new InflateError('be a Zstandard frame');
      const frame = frameAt(bytes, at);
      frames.push(frame);
      at += frame.bytes.length;
    }
  }
  return frames;
}

function frameAt(bytes: Buffer, start: number): Frame {
  const descriptor = bytes[start + 4] as number;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeAt = start + (isSingleSegment ? 5 : 6) + ([0, 1, 2, 4][descriptor & 3] as number);
  const sizeBytes = descriptor >> 6 === 0 ? (isSingleSegment ? 1 : 0) : 1 << (descriptor >> 6);
  let at = sizeAt + sizeBytes;
  if (at > bytes.length) throw truncated();
  const contentBytes = isSingleSegment ? sizeOf(bytes, sizeAt, sizeBytes) : undefined;
  let mostBytes = 0;
  for (;;) {
    if (at + 3 > bytes.length) throw truncated();
    const header = bytes.readUIntLE(at, 3);
    const type = (header >> 1) & 3;
    // Raw and run-length blocks have the size of their content, compressed ones that of their bytes.
    mostBytes += type < 2 ? header >> 3 : BLOCK_BYTES;
    at += 3 + (type === 1 ? 1 : header >> 3);
    if ((header & 1) === 1) break;
  }
  const end = at + ((descriptor & 4) === 0 ? 0 : 4);
  if (end > bytes.length) throw truncated();
  return { bytes: bytes.subarray(start, end), contentBytes, mostBytes };
}

/** Content size (RFC 8878, section 3.1.1.1.4). */
function sizeOf(bytes: Buffer, at: number, width: number): number {
  if (width === 8) return Number(bytes.readBigUInt64LE(at));
  return bytes.readUIntLE(at, width) + (width === 2 ? 256 : 0);
}

function truncated(): InflateError {
  return new InflateError('be a Zstandard frame: it is truncated');
}
