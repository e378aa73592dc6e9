import protobuf from 'protobufjs';
import type { ByteCursor } from '../byte-cursor.ts';
import { setOwn } from '../record-reader.ts';
import { type Scalar, scalarOf } from './scalars.ts';
import { wellKnown } from './well-known.ts';

/** Kinds of encoding in a tag (protobuf.dev/programming-guides/encoding). */
const VARINT = 0;
const FIXED64 = 1;
const LENGTH = 2;
const GROUP = 3;
const END_GROUP = 4;
const FIXED32 = 5;

type Fields = Record<string, unknown>;

interface ReaderOptions {
  /**
   * True where bytes are to show whether they are of this type: an unknown field is a fault, and a `float` or
   * `double` that was not sent stays absent. A time is hardly ever exactly 0, unless it is in whole units.
   */
  readonly isExact?: boolean;
  /** Readers of the types of one file, which all share. */
  readonly readers?: Map<protobuf.Type, MessageReader>;
}

/**
 * A field as the reader needs it: exactly one of `scalar` and `message` is there, of a map that of its
 * values.
 */
interface FieldPlan {
  readonly name: string;
  readonly isRepeated: boolean;
  readonly key?: Scalar;
  readonly scalar?: Scalar;
  readonly message?: MessageReader;
}

/**
 * Reads messages of one type to plain objects. Names are those of the `.proto` file. Enums are the names of
 * their values, `bytes` are hexadecimal digits, a 64-bit integer beyond 2⁵³ is a text of digits; for
 * Timestamp and others see `wellKnown`. A field without presence that is not in the message has its default,
 * 0 for instance: proto3 does not send it. Every other absent field stays absent. Unknown fields are passed
 * over.
 *
 * The plan of a type is made when its first message is read, so a type may hold itself.
 */
export class MessageReader {
  readonly #type: protobuf.Type;
  readonly #readers: Map<protobuf.Type, MessageReader>;
  readonly #convert: ((fields: Fields) => unknown) | undefined;
  readonly #isExact: boolean;
  #plans: ReadonlyMap<number, FieldPlan> | undefined;
  #defaults: readonly (readonly [string, unknown])[] = [];

  constructor(type: protobuf.Type, { isExact = false, readers = new Map() }: ReaderOptions = {}) {
    this.#type = type;
    this.#isExact = isExact;
    this.#readers = readers.set(type, this);
    this.#convert = wellKnown.get(type.fullName);
  }

  /**
   * Reads a message up to the cursor's end.
   *
   * @param group number of the group that the message is, which ends with its own tag. @default {none}
   * @param merged what was read of the same field before: a message may come in parts.
   * @throws {RecordFault}
   */
  read(cursor: ByteCursor, group = 0, merged?: unknown): unknown {
    cursor.enter();
    const fields: Fields = isFields(merged) && this.#convert === undefined ? merged : {};
    this.#plans ??= this.#planned();
    const plans = this.#plans;
    cursor.spend(1 + this.#defaults.length);
    for (;;) {
      if (cursor.pos >= cursor.end) {
        if (group === 0) break;
        throw cursor.fault(`Group ${group} must have an end: the message ends within it`);
      }
      const tag = readTag(cursor);
      const number = tag >>> 3;
      if ((tag & 7) === END_GROUP) {
        if (number === group) break;
        throw cursor.fault(`A group must end where it began: ${number} ends in ${group || 'none'}`);
      }
      cursor.spend(1);
      const plan = plans.get(number);
      if (plan !== undefined && readField(cursor, plan, tag, fields)) continue;
      if (this.#isExact) throw cursor.fault(`The message must have a field ${number}: it has none`);
      skip(cursor, tag);
    }
    for (const [name, value] of this.#defaults) {
      if (!Object.hasOwn(fields, name)) setOwn(fields, name, value);
    }
    cursor.leave();
    return this.#convert === undefined ? fields : this.#convert(fields);
  }

  #planned(): ReadonlyMap<number, FieldPlan> {
    const fields = this.#type.fieldsArray.map((field) => field.resolve());
    this.#defaults = fields.flatMap((field) => {
      const { scalar } = this.#valueOf(field);
      if (field.hasPresence || field.repeated || field.map || scalar === undefined) return [];
      if (this.#isExact && isFraction(field)) return [];
      return [[field.name, scalar.absent] as const];
    });
    return new Map(fields.map((field) => [field.id, this.#plan(field)]));
  }

  #plan(field: protobuf.Field): FieldPlan {
    const { name, repeated: isRepeated } = field;
    const key = field instanceof protobuf.MapField ? scalarOf(field.keyType, null) : undefined;
    return { name, isRepeated, ...this.#valueOf(field), ...(key === undefined ? {} : { key }) };
  }

  #valueOf(field: protobuf.Field): Pick<FieldPlan, 'scalar' | 'message'> {
    const type = field.resolvedType;
    const scalar = scalarOf(field.type, type instanceof protobuf.Enum ? type : null);
    if (scalar !== undefined) return { scalar };
    const message = type as protobuf.Type;
    const options = { isExact: this.#isExact, readers: this.#readers };
    return { message: this.#readers.get(message) ?? new MessageReader(message, options) };
  }
}

function isFraction({ type }: protobuf.Field): boolean {
  return type === 'double' || type === 'float';
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads a tag: the number of the field and its encoding. */
function readTag(cursor: ByteCursor): number {
  cursor.varint();
  const tag = cursor.low;
  if (cursor.high !== 0 || tag >>> 3 === 0) {
    throw cursor.fault(
      `A field must have a number from 1 to 536870911: it is ${cursor.unsigned()} / 8`,
    );
  }
  return tag;
}

/** Reads a field; false where its encoding is that of another type, so that it counts as unknown. */
function readField(cursor: ByteCursor, plan: FieldPlan, tag: number, fields: Fields): boolean {
  const { name, scalar, message, isRepeated } = plan;
  const encoding = tag & 7;
  if (plan.key !== undefined) {
    if (encoding !== LENGTH) return false;
    cursor.spend(2);
    within(cursor, () => readEntry(cursor, plan, plan.key as Scalar, fields));
    return true;
  }
  if (message !== undefined) {
    if (encoding !== LENGTH && encoding !== GROUP) return false;
    const before = isRepeated ? undefined : ownOf(fields, name);
    const value =
      encoding === GROUP
        ? message.read(cursor, tag >>> 3, before)
        : within(cursor, () => message.read(cursor, 0, before));
    put(fields, plan, value);
    return true;
  }
  const { read, encoding: wanted } = scalar as Scalar;
  if (encoding === wanted) {
    put(fields, plan, read(cursor));
    return true;
  }
  if (encoding !== LENGTH || !isRepeated) return false;
  within(cursor, () => {
    while (cursor.pos < cursor.end) {
      cursor.spend(1);
      put(fields, plan, read(cursor));
    }
  });
  return true;
}

/** Reads an entry of a map: key and value are fields 1 and 2, each with its default where it is absent. */
function readEntry(cursor: ByteCursor, plan: FieldPlan, key: Scalar, fields: Fields): void {
  const entry: Fields = {};
  const { scalar, message } = plan;
  const keyPlan: FieldPlan = { name: 'key', isRepeated: false, scalar: key };
  const valuePlan: FieldPlan = {
    name: 'value',
    isRepeated: false,
    ...(scalar === undefined ? {} : { scalar }),
    ...(message === undefined ? {} : { message }),
  };
  while (cursor.pos < cursor.end) {
    const tag = readTag(cursor);
    const number = tag >>> 3;
    const field = number === 1 ? keyPlan : number === 2 ? valuePlan : undefined;
    if (field === undefined || !readField(cursor, field, tag, entry)) skip(cursor, tag);
  }
  const value = Object.hasOwn(entry, 'value') ? entry.value : (scalar?.absent ?? {});
  let map = ownOf(fields, plan.name);
  if (!isFields(map)) {
    map = {};
    setOwn(fields, plan.name, map);
  }
  setOwn(map as Fields, String(entry.key ?? key.absent), value);
}

/** Runs an action with the cursor's end at that of a part whose length comes next. */
function within<Result>(cursor: ByteCursor, action: () => Result): Result {
  cursor.varint();
  const length = Number(cursor.unsigned());
  const at = cursor.take(length, 'A field');
  const { end } = cursor;
  cursor.pos = at;
  cursor.end = at + length;
  const result = action();
  cursor.end = end;
  return result;
}

function ownOf(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

function put(fields: Fields, { name, isRepeated }: FieldPlan, value: unknown): void {
  if (!isRepeated) {
    setOwn(fields, name, value);
    return;
  }
  const list = ownOf(fields, name);
  if (Array.isArray(list)) list.push(value);
  else setOwn(fields, name, [value]);
}

/** Passes over a field that the schema does not have. */
function skip(cursor: ByteCursor, tag: number): void {
  switch (tag & 7) {
    case VARINT:
      cursor.varint();
      return;
    case FIXED64:
      cursor.take(8, 'A field');
      return;
    case LENGTH:
      cursor.varint();
      cursor.take(Number(cursor.unsigned()), 'A field');
      return;
    case GROUP:
      skipGroup(cursor, tag >>> 3);
      return;
    case FIXED32:
      cursor.take(4, 'A field');
      return;
    default:
      throw cursor.fault(
        `A field must have an encoding from 0 to 5: field ${tag >>> 3} has ${tag & 7}`,
      );
  }
}

function skipGroup(cursor: ByteCursor, group: number): void {
  cursor.enter();
  for (;;) {
    const tag = readTag(cursor);
    if ((tag & 7) === END_GROUP) {
      if (tag >>> 3 === group) break;
      throw cursor.fault(`A group must end where it began: ${tag >>> 3} ends in ${group}`);
    }
    skip(cursor, tag);
  }
  cursor.leave();
}
