/**
 * A Zstandard frame by RFC 8878, section 3.1.1. It has a magic, a descriptor with single segment and an
 * 8-byte content size, then raw blocks (type 0) and run-length blocks (type 1). With `windowLog` it has the
 * window instead of a content size.
 */
export function zstdFrame(
  blocks: readonly (Buffer | { readonly byte: number; readonly times: number })[],
  windowLog?: number,
): Buffer {
  const sizes = blocks.map((block) => (Buffer.isBuffer(block) ? block.length : block.times));
  const header = Buffer.alloc(13);
  header.writeUInt32LE(0xfd2fb528, 0);
  header.writeUInt8(0b1110_0000, 4);
  header.writeBigUInt64LE(BigInt(sizes.reduce((sum, size) => sum + size, 0)), 5);
  const streamed = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, ((windowLog ?? 10) - 10) << 3]);
  const parts: Buffer[] = [windowLog === undefined ? header : streamed];
  blocks.forEach((block, i) => {
    const isLast = i === blocks.length - 1 ? 1 : 0;
    const type = Buffer.isBuffer(block) ? 0 : 1;
    const blockHeader = Buffer.alloc(3);
    blockHeader.writeUIntLE(((sizes[i] ?? 0) << 3) | (type << 1) | isLast, 0, 3);
    parts.push(blockHeader, Buffer.isBuffer(block) ? block : Buffer.from([block.byte]));
  });
  return Buffer.concat(parts);
}
