import { limits } from '../../base/limits.ts';
import { ProtoFault, ProtoReader, wireTypes } from '../protobuf/proto-reader.ts';
import type { AttributeValue } from '../span.ts';
import { valueKinds } from '../spans/rules/span-values.ts';

const NO_BYTES = Buffer.alloc(0);

/**
 * Reads attributes, events and the status of spans in OTLP protobuf, in whichever way they are written. Of a
 * field that is there several times the last one counts. A message may have millions of parts that are
 * nothing, so the readers are used again.
 */
export class SpanParts {
  /** That of the span or the resource around the parts. */
  readonly fault = new ProtoFault();
  /** Attributes and events so far. */
  count = 0;
  /** Range of the attribute's key or of the event's name. */
  nameStart = 0;
  nameEnd = 0;
  /** Kind of the attribute's value. A list, a map and bytes are none. */
  kind: number = valueKinds.none;
  /** Range of a text. */
  valueStart = 0;
  valueEnd = 0;
  /** A number, and 0 or 1 for a boolean. */
  number = 0;
  /** Position of the event's time; -1 without one. */
  timeAt = -1;
  readonly #part = new ProtoReader(NO_BYTES, 0, 0, this.fault);
  readonly #pair = new ProtoReader(NO_BYTES, 0, 0, this.fault);
  readonly #value = new ProtoReader(NO_BYTES, 0, 0, this.fault);

  begin(): void {
    this.fault.clear();
    this.count = 0;
  }

  /** True if there are more than a span or a resource may have. */
  get areTooMany(): boolean {
    return this.count > limits.spanParts;
  }

  /**
   * Reads a KeyValue. Returns false where it cannot be read, or is one too many. One without a key has no value.
   *
   * @param into receives it where it has a value.
   */
  attribute(
    bytes: Buffer,
    start: number,
    end: number,
    into?: Map<string, AttributeValue> | undefined,
  ): boolean {
    const pair = this.#pair;
    if (++this.count > limits.spanParts) return false;
    let [keyStart, keyEnd] = [0, 0];
    this.kind = valueKinds.none;
    pair.begin(bytes, start, end);
    while (pair.next()) {
      if (pair.field === 1 && pair.is(wireTypes.bytes)) {
        keyStart = pair.start;
        keyEnd = pair.end;
      } else if (pair.field === 2 && pair.is(wireTypes.bytes)) this.#any(pair);
    }
    if (this.fault.text !== '') return false;
    this.nameStart = keyStart;
    this.nameEnd = keyEnd;
    if (keyStart === keyEnd) this.kind = valueKinds.none;
    if (into !== undefined && this.kind !== valueKinds.none) {
      into.set(bytes.toString('utf8', keyStart, keyEnd), this.#valueIn(bytes));
    }
    return true;
  }

  /** Reads an Event. Returns false as `attribute` does. @param into receives its attributes. */
  event(
    bytes: Buffer,
    start: number,
    end: number,
    into?: Map<string, AttributeValue> | undefined,
  ): boolean {
    const event = this.#part;
    if (++this.count > limits.spanParts) return false;
    let [nameStart, nameEnd, timeAt] = [0, 0, -1];
    event.begin(bytes, start, end);
    while (event.next()) {
      if (event.field === 1 && event.is(wireTypes.fixed64)) timeAt = event.pos - 8;
      else if (event.field === 2 && event.is(wireTypes.bytes)) {
        nameStart = event.start;
        nameEnd = event.end;
      } else if (event.field === 3 && event.is(wireTypes.bytes)) {
        if (!this.attribute(bytes, event.start, event.end, into)) return false;
      }
    }
    this.nameStart = nameStart;
    this.nameEnd = nameEnd;
    this.timeAt = timeAt;
    return this.fault.text === '';
  }

  /** Returns the code of a Status; `before` where it has none. */
  statusCode(bytes: Buffer, start: number, end: number, before: number): number {
    const status = this.#part;
    let code = before;
    status.begin(bytes, start, end);
    while (status.next()) {
      if (status.field === 3 && status.is(wireTypes.varint)) code = status.low;
    }
    return code;
  }

  /** Reads an AnyValue. A list or a map is not entered. */
  #any({ bytes, start, end }: ProtoReader): void {
    const value = this.#value;
    value.begin(bytes, start, end);
    while (value.next()) {
      const { field } = value;
      if (field === 1 && value.is(wireTypes.bytes)) {
        this.kind = valueKinds.text;
        this.valueStart = value.start;
        this.valueEnd = value.end;
      } else if (field === 2 && value.is(wireTypes.varint)) {
        this.kind = valueKinds.bool;
        this.number = Number(value.bool());
      } else if (field === 3 && value.is(wireTypes.varint)) {
        this.kind = valueKinds.number;
        this.number = value.int();
      } else if (field === 4 && value.is(wireTypes.fixed64)) {
        this.number = value.double();
        this.kind = Number.isFinite(this.number) ? valueKinds.number : valueKinds.none;
      } else if (field >= 5 && field <= 7 && value.is(wireTypes.bytes)) {
        this.kind = valueKinds.none;
      }
    }
  }

  #valueIn(bytes: Buffer): AttributeValue {
    if (this.kind === valueKinds.text) {
      return bytes.toString('utf8', this.valueStart, this.valueEnd);
    }
    return this.kind === valueKinds.bool ? this.number !== 0 : this.number;
  }
}
