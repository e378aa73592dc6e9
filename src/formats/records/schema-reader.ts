import { invariant } from '../../base/invariant.ts';
import { limits } from '../../base/limits.ts';
import type { RejectReason } from '../../decode/reject-reasons.ts';
import { frameFault, headerBytes, schemaIdOf } from './confluent-frame.ts';
import { RecordFault, type RecordReader, type RecordSink } from './record-reader.ts';
import { SchemaFault } from './schema-fault.ts';
import type { RegisteredSchema, SchemaSource } from './schema-source.ts';
import { shownMessage } from './shown-bytes.ts';

/** What differs between the serializations that need a schema. */
export interface Serialization<Compiled> {
  /** Type of its schemas in a registry. */
  readonly type: RegisteredSchema['type'];
  /** Reason of records that are not of it. */
  readonly reason: RejectReason;
  /** @throws {SchemaFault} */
  compile(schema: RegisteredSchema): Compiled;
  /**
   * Reads the record from `start` to the message's end.
   *
   * @throws {RecordFault}, and {SchemaFault} where the schema lacks what the message names.
   */
  read(compiled: Compiled, message: Buffer, start: number): object;
}

/**
 * Reads messages with the header of a schema registry, each by the schema it was written with. A schema is
 * compiled once. `prepare` has to be awaited right before `read`, as schemas of earlier messages may be
 * forgotten.
 */
export class RegistryReader<Compiled> implements RecordReader {
  readonly #serialization: Serialization<Compiled>;
  readonly #schemas: SchemaSource;
  readonly #compiled = new WeakMap<RegisteredSchema, Compiled | SchemaFault>();
  /** The last id with its compiled schema: most topics have one at a time. */
  #lastId = -1;
  #last: Compiled | undefined;

  constructor(serialization: Serialization<Compiled>, schemas: SchemaSource) {
    this.#serialization = serialization;
    this.#schemas = schemas;
  }

  prepare(message: Buffer): Promise<void> | undefined {
    const id = schemaIdOf(message);
    if (id === undefined || id === this.#lastId) return undefined;
    return this.#schemas.get(id) === undefined ? this.#schemas.fetch(id) : undefined;
  }

  read(message: Buffer, sink: RecordSink): void {
    const { reason } = this.#serialization;
    const id = schemaIdOf(message);
    let record: object;
    try {
      requireSize(message);
      if (id === undefined) throw frameFault(reason, message);
      const compiled = id === this.#lastId ? (this.#last as Compiled) : this.#schemaOf(id);
      record = this.#serialization.read(compiled, message, headerBytes);
    } catch (error) {
      rejectFault(error, id === undefined ? undefined : `Schema ${id}`, message, sink);
      return;
    }
    sink.record(record, 0, message.length);
  }

  #schemaOf(id: number): Compiled {
    const schema = this.#schemas.get(id);
    invariant(schema !== undefined, 'a message is prepared before it is read');
    if ('missing' in schema) throw new SchemaFault(schema.missing);
    let compiled = this.#compiled.get(schema);
    if (compiled === undefined) {
      compiled = this.#compile(schema);
      this.#compiled.set(schema, compiled);
    }
    if (compiled instanceof SchemaFault) throw compiled;
    this.#lastId = id;
    this.#last = compiled;
    return compiled;
  }

  #compile(schema: RegisteredSchema): Compiled | SchemaFault {
    const { type } = this.#serialization;
    if (schema.type !== type) {
      return new SchemaFault(`it must be ${type}, as the topic's format is: it is ${schema.type}`);
    }
    try {
      return this.#serialization.compile(schema);
    } catch (error) {
      if (error instanceof SchemaFault) return error;
      throw error;
    }
  }
}

/** Reads messages that consist of a record alone, all by one schema. */
export class FileReader<Compiled> implements RecordReader {
  readonly #serialization: Serialization<Compiled>;
  readonly #compiled: Compiled;

  constructor(serialization: Serialization<Compiled>, compiled: Compiled) {
    this.#serialization = serialization;
    this.#compiled = compiled;
  }

  read(message: Buffer, sink: RecordSink): void {
    let record: object;
    try {
      requireSize(message);
      record = this.#serialization.read(this.#compiled, message, 0);
    } catch (error) {
      rejectFault(error, undefined, message, sink);
      return;
    }
    sink.record(record, 0, message.length);
  }
}

function requireSize({ length }: Buffer): void {
  if (length <= limits.eventBytes) return;
  const rule = `An event must have at most ${limits.eventBytes} bytes`;
  throw new RecordFault('message_too_large', `${rule}: it has ${length}`);
}

/** @param schema names the schema of a message with a header. */
function rejectFault(
  error: unknown,
  schema: string | undefined,
  message: Buffer,
  sink: RecordSink,
): void {
  const reject = (reason: RejectReason, detail: string) =>
    sink.reject(reason, detail, 0, message.length);
  if (error instanceof SchemaFault) {
    reject('unknown_schema', `${schema ?? 'The schema'} cannot be used: ${error.message}`);
  } else if (error instanceof RecordFault) {
    // The fault of a missing header shows the message already.
    const isFramed = schema !== undefined;
    const start = isFramed ? headerBytes : 0;
    const shown = `; the record is ${shownMessage(message.subarray(start))}`;
    const isShown = !isFramed && error.message.includes('framing: confluent');
    reject(error.reason, `${error.message}${isShown ? '' : shown}`);
  } else throw error;
}
