import { decompressFrameSync, uncompressSync } from 'lz4-napi';
import { InflateError } from './inflate-error.ts';

const MAGIC = 0x184d2204;
const UNCOMPRESSED_FLAG = 0x80000000;
/** Version 1: independent blocks, no checksums, no dictionary. SIZE_FLAG may be set as well. */
const PLAIN_FLAGS = 0x60;
const SIZE_FLAG = 0x08;
const DICTIONARY_FLAG = 0x01;
const CONTENT_SIZE_AT = 6;
/** An LZ4 sequence inflates to at most 255 bytes per byte. */
const MOST_PER_BYTE = 255;

/** Input of `uncompressSync`: the largest inflated size, then the block. */
let scratch = Buffer.alloc(4 + 64 * 1024);

/**
 * Inflates an LZ4 frame (LZ4 Frame Format 1.6) after checking that its blocks fit into `maxBytes`. Plain
 * frames, as Kafka's producers write them, are inflated block by block. That is five times as fast as the
 * library's frame function, which allocates new memory again and again.
 */
export function inflateLz4(bytes: Buffer, maxBytes: number): Buffer {
  const frame = bytes.subarray(0, boundedEnd(bytes, maxBytes));
  const isPlain = ((frame[4] as number) & ~SIZE_FLAG) === PLAIN_FLAGS;
  return isPlain ? inflateBlocks(frame) : decompressFrameSync(frame);
}

/** Inflates the blocks of a plain frame. */
function inflateBlocks(frame: Buffer): Buffer {
  const hasSize = ((frame[4] as number) & SIZE_FLAG) !== 0;
  const blockBytes = blockBytesOf(frame);
  const parts: Buffer[] = [];
  let total = 0;
  let at = headerBytesOf(frame);
  for (let header = frame.readUInt32LE(at); header !== 0; header = frame.readUInt32LE(at)) {
    at += 4;
    const isStored = header >= UNCOMPRESSED_FLAG;
    const size = isStored ? header - UNCOMPRESSED_FLAG : header;
    const block = frame.subarray(at, at + size);
    // The fetch buffer is reused, so a stored block is copied.
    const part = isStored ? Buffer.from(block) : inflateBlock(block, blockBytes);
    parts.push(part);
    total += part.length;
    at += size;
  }
  if (hasSize && frame.readBigUInt64LE(CONTENT_SIZE_AT) !== BigInt(total))
    throw new InflateError('be an LZ4 frame: its size must match its header');
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts, total);
}

function inflateBlock(block: Buffer, blockBytes: number): Buffer {
  if (scratch.length < 4 + block.length) scratch = Buffer.alloc(4 + block.length);
  scratch.writeUInt32LE(Math.min(blockBytes, block.length * MOST_PER_BYTE), 0);
  block.copy(scratch, 4);
  return uncompressSync(scratch.subarray(0, 4 + block.length));
}

/** Offset of the first block: after the optional content size and dictionary id, and a checksum. */
function headerBytesOf(frame: Buffer): number {
  const flags = frame[4] as number;
  const sizeBytes = (flags & SIZE_FLAG) === 0 ? 0 : 8;
  const dictionaryBytes = (flags & DICTIONARY_FLAG) === 0 ? 0 : 4;
  return CONTENT_SIZE_AT + sizeBytes + dictionaryBytes + 1;
}

/** Largest inflated size of a block, by the frame's header. */
function blockBytesOf(frame: Buffer): number {
  return 2 ** (8 + 2 * (((frame[5] as number) >> 4) & 7));
}

/**
 * Walks the blocks and returns the end of the frame. Block headers give an upper bound of the inflated size.
 * Blocks are read for their exact size only where that bound exceeds `maxBytes`.
 */
function boundedEnd(bytes: Buffer, maxBytes: number): number {
  if (bytes.length < 7 || bytes.readUInt32LE(0) !== MAGIC)
    throw new InflateError('be an LZ4 frame');
  const flags = bytes[4] as number;
  const blockBytes = blockBytesOf(bytes);
  const checksumBytes = (flags & 0x10) === 0 ? 0 : 4;
  const begin = headerBytesOf(bytes);
  let most = 0;
  let exact = 0;
  for (let at = begin; at + 4 <= bytes.length; ) {
    const header = bytes.readUInt32LE(at);
    at += 4;
    if (header === 0) return at + ((flags & 0x04) === 0 ? 0 : 4);
    const isStored = header >= UNCOMPRESSED_FLAG;
    const size = isStored ? header - UNCOMPRESSED_FLAG : header;
    if (size > blockBytes || at + size > bytes.length)
      throw new InflateError('be an LZ4 frame: a block is truncated');
    most += isStored ? size : Math.min(blockBytes, size * MOST_PER_BYTE);
    if (most > maxBytes) exact = exactBytes(bytes, begin, at + size, checksumBytes);
    if (exact > maxBytes) throw InflateError.tooLarge(maxBytes);
    if (most > maxBytes) most = exact;
    at += size + checksumBytes;
  }
  throw new InflateError('be an LZ4 frame: it is truncated');
}

/** Adds up the exact inflated sizes of the blocks in `[begin, end)` (LZ4 Block Format). */
function exactBytes(bytes: Buffer, begin: number, end: number, checksumBytes: number): number {
  let total = 0;
  for (let at = begin; at < end; at += checksumBytes) {
    const header = bytes.readUInt32LE(at);
    at += 4;
    const size = header >= UNCOMPRESSED_FLAG ? header - UNCOMPRESSED_FLAG : header;
    total += header >= UNCOMPRESSED_FLAG ? size : blockOutput(bytes, at, at + size);
    at += size;
  }
  return total;
}

function blockOutput(bytes: Buffer, start: number, end: number): number {
  let total = 0;
  let at = start;
  const more = (length: number) => {
    let sum = length;
    for (let byte = 255; length === 15 && byte === 255 && at < end; sum += byte) {
      byte = bytes[at++] as number;
    }
    return sum;
  };
  while (at < end) {
    const token = bytes[at++] as number;
    const literals = more(token >> 4);
    total += literals;
    at += literals;
    if (at >= end) break;
    at += 2;
    total += 4 + more(token & 15);
  }
  return total;
}
