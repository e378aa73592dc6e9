import { limits } from '../base/limits.ts';

/**
 * What is wrong with the inflated records of a batch, or undefined: kafkajs takes them at their
 * word, and a length that is a lie stops it, or makes it build an array of two thousand million.
 * Its work for headers grows with the square of their number, so that is limited as well.
 *
 * About 30 ns a record; looks at lengths only.
 */
export function recordProblem(bytes: Buffer, count: number): string | undefined {
  let at = 0;
  for (let i = 0; i < count; i++) {
    const length = readVarint(bytes, at);
    at = next;
    const end = at + length;
    if (!(length >= 6 && end <= bytes.length)) return `record ${i} must lie within the batch`;
    skipVarint(bytes, at + 1);
    skipVarint(bytes, next);
    for (let part = 0; part < 2; part++) {
      const partBytes = readVarint(bytes, next);
      if (partBytes < -1) return `record ${i} must have a key and value of some length`;
      next += Math.max(0, partBytes);
    }
    const headerCount = readVarint(bytes, next);
    if (headerCount < 0 || headerCount > limits.headersPerRecord) {
      return `record ${i} must have at most ${limits.headersPerRecord} headers`;
    }
    for (let part = 0; part < headerCount * 2; part++) {
      const partBytes = readVarint(bytes, next);
      if (partBytes < (part % 2) * -1) return `record ${i} must have headers of some length`;
      next += Math.max(0, partBytes);
    }
    if (next !== end) return `record ${i} must be as long as it says`;
    at = end;
  }
  return undefined;
}

/** Where the varint read last ends. */
let next = 0;

/** The zigzag varint at `at`, NaN past the end or where it has more than 5 bytes. */
function readVarint(bytes: Buffer, at: number): number {
  let value = 0;
  for (let i = 0; i < 5; i++) {
    const byte = bytes[at + i];
    if (byte === undefined) break;
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) {
      next = at + i + 1;
      return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    }
  }
  next = Number.NaN;
  return Number.NaN;
}

/** Passes over a varint of up to 10 bytes. */
function skipVarint(bytes: Buffer, at: number): void {
  for (let i = at; i < at + 10; i++) {
    const byte = bytes[i];
    if (byte === undefined) break;
    if (byte < 0x80) {
      next = i + 1;
      return;
    }
  }
  next = Number.NaN;
}
