import snappy from 'snappy';
import { InflateError } from './inflate-error.ts';

/** Magic of xerial's framing, which Java producers write: 0x82 "SNAPPY" 0, then two versions. */
const XERIAL_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0]);
const XERIAL_HEADER_BYTES = 16;

/**
 * Inflates Snappy, plain or in xerial's frames of length-prefixed (big endian) blocks. A block begins with
 * its inflated length, so the limit is checked before anything is inflated.
 */
export function inflateSnappy(bytes: Buffer, maxBytes: number): Buffer {
  const blocks = blocksOf(bytes);
  const totalBytes = blocks.reduce((sum, block) => sum + inflatedBytes(block), 0);
  if (totalBytes > maxBytes) {
    throw new InflateError(`inflate to at most ${maxBytes} bytes: its header says ${totalBytes}`);
  }
  const inflated = blocks.map(inflateBlock);
  return inflated.length === 1 ? (inflated[0] as Buffer) : Buffer.concat(inflated);
}

function blocksOf(bytes: Buffer): Buffer[] {
  if (!bytes.subarray(0, XERIAL_MAGIC.length).equals(XERIAL_MAGIC)) return [bytes];
  const blocks: Buffer[] = [];
  for (let at = XERIAL_HEADER_BYTES; at < bytes.length; ) {
    const end = at + 4 > bytes.length ? Number.NaN : at + 4 + bytes.readUInt32BE(at);
    if (!(end <= bytes.length)) throw new InflateError('be snappy: a block is truncated');
    blocks.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return blocks;
}

/** Reads the inflated length at the start of a block: a varint of at most 32 bits. */
function inflatedBytes(block: Buffer): number {
  let length = 0;
  for (let i = 0; i < 5; i++) {
    const byte = block[i];
    if (byte === undefined) break;
    length += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return length;
  }
  throw new InflateError('be snappy: it has no length');
}

function inflateBlock(block: Buffer): Buffer {
  const inflated = snappy.uncompressSync(block, { asBuffer: true });
  return Buffer.isBuffer(inflated) ? inflated : Buffer.from(inflated);
}
