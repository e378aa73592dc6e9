import type { RecordBatchHeader } from './record-batch-header.ts';
import type { RefusedRecord } from './refused-record.ts';

/** Set on substitutes, whose batch is then looked up; Kafka has no attributes of records. */
const ATTRIBUTES = 0x54;
const substituted = new WeakMap<ArrayBufferLike, RefusedRecord>();

/**
 * Records to stand for those of a batch that cannot be decoded: as many as its header says, with
 * its first offsets and its last, and no value. So kafkajs goes on behind the batch, and each of
 * its records is counted as rejected.
 */
export function substituteRecords(header: RecordBatchHeader, refused: RefusedRecord): Buffer {
  const { recordCount, lastOffsetDelta } = header;
  const bytes = Buffer.alloc(recordCount * 12);
  let at = 0;
  for (let i = 0; i < recordCount; i++) {
    const delta = i === recordCount - 1 ? lastOffsetDelta : i;
    const start = at++;
    bytes[at++] = ATTRIBUTES;
    // Timestamp delta 0; offset delta; no key; an empty value; no headers. Zigzag: n is 2n, -1 is 1.
    bytes[at++] = 0;
    at = writeVarint(bytes, at, delta * 2);
    bytes[at++] = 1;
    bytes[at++] = 0;
    bytes[at++] = 0;
    bytes[start] = (at - start - 1) * 2;
  }
  substituted.set(bytes.buffer, refused);
  return bytes.subarray(0, at);
}

/** Why the batch of a message could not be decoded; undefined for one that came as it is. */
export function refusalOf(message: {
  readonly attributes: number;
  readonly value: Buffer | null;
}): RefusedRecord | undefined {
  // What a producer writes never lies in a buffer of ours.
  if (message.attributes !== ATTRIBUTES || message.value === null) return undefined;
  return substituted.get(message.value.buffer);
}

function writeVarint(bytes: Buffer, start: number, value: number): number {
  let at = start;
  let rest = value;
  while (rest >= 0x80) {
    bytes[at++] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  bytes[at++] = rest;
  return at;
}
