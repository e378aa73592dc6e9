import type { RejectReason } from '../../decode/reject-reasons.ts';
import type { ReadHeaders } from '../../source/record.ts';
import { RecordFault } from './record-reader.ts';
import type { SchemaId } from './schema-source.ts';
import { shownMessage } from './shown-bytes.ts';

/** Bytes of the number: byte 0, and the id of the schema in four bytes, big endian. */
const numberBytes = 5;
/** Bytes of the other form: byte 1, and a GUID. */
const guidBytes = 17;
/** Header of a record in which newer serializers put the id. The message then is the record alone. */
const idHeader = '__value_schema_id';

/** The wire format of schema registries: which schema a message has. */
export interface Frame {
  readonly id: SchemaId;
  /** Start of the record in the message. */
  readonly start: number;
  /** Bytes after the id in the record's header; undefined where the id is in the message. */
  readonly rest: Buffer | undefined;
}

/**
 * Returns the schema of a message: of a header where there is one, else of the bytes it begins with. undefined
 * for other messages.
 */
export function frameOf(message: Buffer, headers: ReadHeaders | undefined): Frame | undefined {
  const header = headers?.().get(idHeader);
  const bytes = header ?? message;
  const id = idAt(bytes);
  if (id === undefined || (header === undefined && typeof id === 'string')) return undefined;
  const end = typeof id === 'string' ? guidBytes : numberBytes;
  return header === undefined
    ? { id, start: end, rest: undefined }
    : { id, start: 0, rest: header.subarray(end) };
}

function idAt(bytes: Buffer): SchemaId | undefined {
  if (bytes[0] === 0 && bytes.length >= numberBytes) return bytes.readUInt32BE(1);
  if (bytes[0] !== 1 || bytes.length < guidBytes) return undefined;
  return bytes.toString('hex', 1, guidBytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Fault of a message without an id. */
export function frameFault(
  reason: RejectReason,
  message: Buffer,
  headers: ReadHeaders | undefined,
): RecordFault {
  const header = headers?.().get(idHeader);
  if (header !== undefined) {
    const form = 'byte 1 and a GUID in 16 bytes, or byte 0 and a schema id in 4';
    return new RecordFault(
      reason,
      `The header ${idHeader} must be ${form} (framing: confluent): it is ${shownMessage(header)}`,
    );
  }
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
