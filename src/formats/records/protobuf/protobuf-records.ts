import { ByteCursor } from '../byte-cursor.ts';
import { messageIndexesAt } from '../confluent-frame.ts';
import { type Reading, RecordFault } from '../record-reader.ts';
import { SchemaFault } from '../schema-fault.ts';
import { type Serialization, Unclear } from '../schema-reader.ts';
import { MessageReader } from './compile-message.ts';
import { type ProtoFile, parseProto, UnclearIndex } from './parse-proto.ts';

/** A file's messages, by their path in it. */
interface ProtoReaders {
  readonly file: ProtoFile;
  readonly readers: Map<string, MessageReader | UnclearReader>;
}

/** Of each `message` that a topic names, one: readers of the same share what they compile. */
const framed = new Map<string | undefined, Serialization<ProtoReaders>>();

/**
 * Protobuf with the id of a schema, which is followed by the message's place in its file.
 *
 * @param name of the message that is meant where serializers count places differently.
 */
export function framedProtobuf(name?: string): Serialization<ProtoReaders> {
  const known = framed.get(name);
  if (known !== undefined) return known;
  const made: Serialization<ProtoReaders> = {
    type: 'PROTOBUF',
    reason: 'invalid_protobuf',
    compile: ({ text, references }) => ({ file: parseProto(text, references), readers: new Map() }),
    read({ file, readers }, message, start, rest) {
      const { indexes, start: end } = messageIndexesAt(
        rest ?? message,
        rest === undefined ? start : 0,
      );
      const path = indexes.join('.');
      let reader = readers.get(path);
      if (reader === undefined) {
        reader = readerAt(file, indexes, name);
        readers.set(path, reader);
      }
      const from = rest === undefined ? end : start;
      if (reader instanceof UnclearReader) return reader.read(message, from);
      return readRecord(reader, message, from);
    },
  };
  framed.set(name, made);
  return made;
}

/**
 * Protobuf without a header: all messages are of one type.
 *
 * @param name of the message. @default {the first of the file}
 */
export function plainProtobuf(name?: string): Serialization<MessageReader> {
  return {
    type: 'PROTOBUF',
    reason: 'invalid_protobuf',
    compile({ text, references }) {
      const file = parseProto(text, references);
      return new MessageReader(name === undefined ? file.at([0]) : file.named(name));
    },
    read: readRecord,
  };
}

function readerAt(file: ProtoFile, indexes: readonly number[], name: string | undefined) {
  try {
    return new MessageReader(file.at(indexes, name));
  } catch (error) {
    if (error instanceof UnclearIndex) return new UnclearReader(error);
    throw error;
  }
}

/**
 * Reads a record as each message that its index may mean. The schema is the one it was written with, so bytes
 * with a field that a message does not have are not that message.
 */
class UnclearReader {
  readonly #fault: UnclearIndex;
  readonly #readers: readonly (readonly [whole: MessageReader, sent: MessageReader])[];

  constructor(fault: UnclearIndex) {
    this.#fault = fault;
    this.#readers = fault.types.map((type) => [
      new MessageReader(type),
      new MessageReader(type, { isExact: true }),
    ]);
  }

  read(message: Buffer, start: number): Unclear {
    const readings = this.#readers.flatMap(([whole, sent]): Reading[] => {
      try {
        const given = { sent: readRecord(sent, message, start) };
        return [{ ...given, record: readRecord(whole, message, start) }];
      } catch (error) {
        if (error instanceof RecordFault || error instanceof SchemaFault) return [];
        throw error;
      }
    });
    return new Unclear(readings, this.#fault);
  }
}

function readRecord(reader: MessageReader, message: Buffer, start: number): object {
  const cursor = new ByteCursor(message, start, message.length, 'invalid_protobuf');
  const record = reader.read(cursor);
  if (typeof record === 'object' && record !== null) return record;
  throw new SchemaFault('an event must be a message with fields: the schema names a single value');
}
