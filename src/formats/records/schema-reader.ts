import { invariant } from '../../base/invariant.ts';
import { limits } from '../../base/limits.ts';
import type { RejectReason } from '../../decode/reject-reasons.ts';
import type { ReadHeaders } from '../../source/record.ts';
import { type Frame, frameFault, frameOf } from './confluent-frame.ts';
import { type Reading, RecordFault, type RecordReader, type RecordSink } from './record-reader.ts';
import { SchemaFault } from './schema-fault.ts';
import type { RegisteredSchema, SchemaId, SchemaSource } from './schema-source.ts';
import { shownMessage } from './shown-bytes.ts';

/** A record that its schema allows to be read in several ways. */
export class Unclear {
  /** Those that its bytes allow too. */
  readonly readings: readonly Reading[];
  /** The reason why the schema alone does not tell. */
  readonly fault: SchemaFault;

  constructor(readings: readonly Reading[], fault: SchemaFault) {
    this.readings = readings;
    this.fault = fault;
  }
}

/** Differences between the serializations that need a schema. */
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
   * @param rest what follows the schema id in a header; undefined where the id is in the message.
   * @throws {RecordFault}, and {SchemaFault} where the schema lacks what the message names.
   */
  read(compiled: Compiled, message: Buffer, start: number, rest?: Buffer): object | Unclear;
}

/** Compiled schemas, or why they cannot be used. Readers of one serialization share them. */
const compiledSchemas = new WeakMap<object, WeakMap<RegisteredSchema, unknown>>();

/**
 * Reads messages with the header of a schema registry, each by the schema it was written with. A schema is
 * compiled once. `prepare` has to be awaited before `read` of the same message, and before that of another
 * one: each decoder has its own reader.
 */
export class RegistryReader<Compiled> implements RecordReader {
  readonly #serialization: Serialization<Compiled>;
  readonly #schemas: SchemaSource;
  readonly #compiled: WeakMap<RegisteredSchema, unknown>;
  /** Schema of the last message. The source may forget it meanwhile. */
  #id: SchemaId = -1;
  #known: Compiled | SchemaFault | undefined;

  constructor(serialization: Serialization<Compiled>, schemas: SchemaSource) {
    this.#serialization = serialization;
    this.#schemas = schemas;
    const compiled = compiledSchemas.get(serialization) ?? new WeakMap();
    compiledSchemas.set(serialization, compiled);
    this.#compiled = compiled;
  }

  prepare(message: Buffer, headers?: ReadHeaders): Promise<void> | undefined {
    const id = frameOf(message, headers)?.id;
    if (id === undefined || this.#knows(id)) return undefined;
    return this.#fetch(id);
  }

  read(message: Buffer, sink: RecordSink, headers?: ReadHeaders): void {
    const { reason } = this.#serialization;
    const frame = frameOf(message, headers);
    let record: object;
    try {
      requireSize(message);
      if (frame === undefined) throw frameFault(reason, message, headers);
      const { id, start, rest } = frame;
      invariant(id === this.#id || this.#knows(id), 'a message is prepared before it is read');
      if (this.#known instanceof SchemaFault) throw this.#known;
      record = this.#serialization.read(this.#known as Compiled, message, start, rest);
    } catch (error) {
      rejectFault(error, frame, message, sink);
      return;
    }
    if (!(record instanceof Unclear)) sink.record(record, 0, message.length);
    else if (!sink.oneOf(record.readings, 0, message.length)) {
      rejectFault(record.fault, frame, message, sink);
    }
  }

  async #fetch(id: SchemaId): Promise<void> {
    do await this.#schemas.fetch(id);
    while (!this.#knows(id));
  }

  /** Takes what the source knows of an id; false if that is nothing. A missing schema may appear later. */
  #knows(id: SchemaId): boolean {
    if (id === this.#id && !(this.#known instanceof SchemaFault)) return true;
    const schema = this.#schemas.get(id);
    if (schema === undefined) return false;
    this.#id = id;
    this.#known = 'missing' in schema ? new SchemaFault(schema.missing) : this.#compiledOf(schema);
    return true;
  }

  #compiledOf(schema: RegisteredSchema): Compiled | SchemaFault {
    let compiled = this.#compiled.get(schema) as Compiled | SchemaFault | undefined;
    if (compiled === undefined) {
      compiled = this.#compile(schema);
      this.#compiled.set(schema, compiled);
    }
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

/** @param frame of a message whose schema is in a registry. */
function rejectFault(
  error: unknown,
  frame: Frame | undefined,
  message: Buffer,
  sink: RecordSink,
): void {
  const reject = (reason: RejectReason, detail: string) =>
    sink.reject(reason, detail, 0, message.length);
  if (error instanceof SchemaFault) {
    reject(
      'unknown_schema',
      `${frame === undefined ? 'The schema' : `Schema ${frame.id}`} cannot be used: ${error.message}`,
    );
  } else if (error instanceof RecordFault) {
    // The fault of a missing header shows the message already.
    const shown = `; the record is ${shownMessage(message.subarray(frame?.start ?? 0))}`;
    const isShown = frame === undefined && error.message.includes('framing: confluent');
    reject(error.reason, `${error.message}${isShown ? '' : shown}`);
  } else throw error;
}
