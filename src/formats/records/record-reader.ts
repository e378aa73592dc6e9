import type { RejectReason } from '../../decode/reject-reasons.ts';
import type { ReadHeaders } from '../../source/record.ts';

/**
 * Wrapping of a record's bytes: by a schema registry's serializer (a schema id before them, or in a header),
 * or none.
 */
export type Framing = 'none' | 'confluent';

/** Receives the records of a message, in order. */
export interface RecordSink {
  /** Sentence on the limit of a message that is reached: its rest is one rejection. */
  readonly excess: string | undefined;
  /** Receives one record, which is a plain object, and its place `[start, end)` in the message. */
  record(object: object, start: number, end: number): void;
  /**
   * Receives a record whose schema leaves open what it is. It is an event if just one of its readings is,
   * even without what is assumed. Otherwise returns false, and the reader rejects it.
   */
  oneOf(readings: readonly Reading[], start: number, end: number): boolean;
  /** Receives what is no record. @param detail one sentence: what was expected and what was found. */
  reject(reason: RejectReason, detail: string, start: number, end: number): void;
}

/** One way to read a record whose schema allows several. */
export interface Reading {
  readonly record: object;
  /** The same without what was not sent but assumed. */
  readonly sent: object;
}

/** Reads messages of one serialization to plain objects. Content never makes it throw. */
export interface RecordReader {
  /** Reads every record of a message. @param headers of its record, for who puts the schema there. */
  read(message: Buffer, sink: RecordSink, headers?: ReadHeaders): void;
  /** Returns the value at `[start, end)` as a separate message; without it, those bytes are one. */
  letter?(message: Buffer, start: number, end: number): Buffer;
  /** Fetches the schema of the message; undefined where none has to be fetched. */
  prepare?(message: Buffer, headers?: ReadHeaders): Promise<void> | undefined;
}

/** The reason why bytes cannot be read as a record. Thrown while one is read, and returned as a rejection. */
export class RecordFault extends Error {
  readonly reason: RejectReason;

  constructor(reason: RejectReason, detail: string) {
    super(detail);
    this.reason = reason;
  }
}

/**
 * Defines a property. Assigned, the key `__proto__` would change the object instead of being one of its keys.
 */
export function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  } else object[key] = value;
}
