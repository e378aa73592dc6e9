import type { RejectReason } from '../../decode/reject-reasons.ts';
import { RecordFault } from './record-reader.ts';
import { shownMessage } from './shown-bytes.ts';

/** Bytes of the header: byte 0, and the id of the schema in four bytes, big endian. */
export const headerBytes = 5;

/**
 * Returns the schema id of a message in the wire format of schema registries; undefined for other messages.
 */
export function schemaIdOf(message: Buffer): number | undefined {
  return message.length >= headerBytes && message[0] === 0 ? message.readUInt32BE(1) : undefined;
}

/** Fault of a message without the header. */
export function frameFault(reason: RejectReason, message: Buffer): RecordFault {
  const rule = 'The message must begin with byte 0 and a schema id in 4 bytes (framing: confluent)';
  const found =
    message[0] === 0 ? `it has ${message.length} bytes` : `it is ${shownMessage(message)}`;
  return new RecordFault(reason, `${rule}: ${found}`);
}

/** Most steps from a file to a message in it: messages are nested no deeper. */
const maxIndexes = 32;

/**
 * Reads the list that says which message of a `.proto` file follows: positions from the outermost one
 * inwards, as zigzag varints after their count. One byte 0 stands for the first message.
 *
 * @returns the positions, and where the message's own bytes begin.
 * @throws {RecordFault} invalid_protobuf
 */
export function messageIndexesAt(
  message: Buffer,
  start: number,
): { readonly indexes: readonly number[]; readonly start: number } {
  const count = zigzagAt(message, start);
  if (count.value === 0) return { indexes: [0], start: count.end };
  if (count.value < 0 || count.value > maxIndexes) {
    throw indexFault(`1 to ${maxIndexes} message indexes must follow: it announces ${count.value}`);
  }
  const indexes: number[] = [];
  let pos = count.end;
  for (let i = 0; i < count.value; i++) {
    const { value, end } = zigzagAt(message, pos);
    if (value < 0) throw indexFault(`a message index must not be negative: it is ${value}`);
    indexes.push(value);
    pos = end;
  }
  return { indexes, start: pos };
}

function zigzagAt(
  message: Buffer,
  start: number,
): { readonly value: number; readonly end: number } {
  let raw = 0;
  for (let i = 0; i < 5; i++) {
    const byte = message[start + i];
    if (byte === undefined) throw indexFault('message indexes must follow: it ends within them');
    raw += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return { value: raw % 2 === 0 ? raw / 2 : -(raw + 1) / 2, end: start + i + 1 };
  }
  throw indexFault('a message index must have at most 5 bytes: it has more');
}

function indexFault(what: string): RecordFault {
  return new RecordFault('invalid_protobuf', `After the schema id of a protobuf message ${what}`);
}
