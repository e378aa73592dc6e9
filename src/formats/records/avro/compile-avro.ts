import type { ByteCursor } from '../byte-cursor.ts';
import { recordLimits } from '../record-limits.ts';
import { setOwn } from '../record-reader.ts';
import { SchemaFault, shownName } from '../schema-fault.ts';
import { logicalReader } from './logical-types.ts';

/** Reads a value of one type. */
export type ReadAvro = (cursor: ByteCursor) => unknown;

type Definition = Readonly<Record<string, unknown>>;

const primitives: Readonly<Record<string, ReadAvro>> = {
  null: () => null,
  boolean: (cursor) => {
    const byte = cursor.bytes[cursor.take(1, 'A boolean')] as number;
    if (byte > 1) throw cursor.fault(`A boolean must be byte 0 or 1: it is ${byte}`);
    return byte === 1;
  },
  int: readLong,
  long: readLong,
  float: (cursor) => cursor.float(),
  double: (cursor) => cursor.double(),
  string: (cursor) => cursor.text(readLength(cursor, 'A text')),
  bytes: (cursor) => cursor.hex(readLength(cursor, 'A field of bytes')),
};

function readLong(cursor: ByteCursor): number | string {
  cursor.varint();
  return cursor.zigzag();
}

function readLength(cursor: ByteCursor, what: string): number {
  const length = readLong(cursor);
  if (typeof length === 'number' && length >= 0) return length;
  throw cursor.fault(`${what} must have a length >= 0: it is ${length}`);
}

/**
 * Compiles an Avro schema (specification 1.11) to a reader of its records. Nothing of the schema becomes
 * code.
 *
 * Values: unions are unwrapped, enums are their symbols, maps are objects. `bytes` and `fixed` are
 * hexadecimal digits, and a `long` beyond 2⁵³ is a text of digits. For logical types see `logicalReader`.
 *
 * @param text the schema as JSON.
 * @param references schemas that define names it uses, those that others use first.
 * @throws {SchemaFault}
 */
export function compileAvro(text: string, references: readonly string[] = []): ReadAvro {
  const compiler = new Compiler();
  for (const reference of references) compiler.compileText(reference);
  return compiler.compileText(text);
}

class Compiler {
  readonly #named = new Map<string, ReadAvro>();
  #depth = 0;

  compileText(text: string): ReadAvro {
    if (text.length > recordLimits.schemaCharacters) {
      const rule = `a schema must have at most ${recordLimits.schemaCharacters} characters`;
      throw new SchemaFault(`${rule}: it has ${text.length}`);
    }
    let schema: unknown;
    try {
      schema = JSON.parse(text);
    } catch {
      throw new SchemaFault('an Avro schema must be valid JSON: it is not');
    }
    return this.#compile(schema, '');
  }

  #compile(schema: unknown, namespace: string): ReadAvro {
    if (++this.#depth > recordLimits.schemaDepth) {
      throw new SchemaFault(
        `a schema must nest at most ${recordLimits.schemaDepth} levels: it nests deeper`,
      );
    }
    const read = this.#compileOne(schema, namespace);
    this.#depth--;
    return read;
  }

  #compileOne(schema: unknown, namespace: string): ReadAvro {
    if (typeof schema === 'string') return this.#reference(schema, namespace);
    if (Array.isArray(schema)) return this.#union(schema, namespace);
    if (typeof schema !== 'object' || schema === null) {
      throw new SchemaFault(
        `a type must be a name, a list or an object: it is ${shownName(schema)}`,
      );
    }
    const definition = schema as Definition;
    const { type } = definition;
    // A type may be wrapped without need: {"type": {"type": "array", …}}.
    if (typeof type === 'object') return this.#compile(type, namespace);
    const read = this.#define(definition, String(type), namespace);
    return logicalReader(definition, read) ?? read;
  }

  #define(definition: Definition, type: string, namespace: string): ReadAvro {
    switch (type) {
      case 'record':
      case 'error':
        return this.#record(definition, namespace);
      case 'enum':
        return this.#register(definition, namespace, enumReader(definition));
      case 'fixed':
        return this.#register(definition, namespace, fixedReader(definition));
      case 'array':
        return arrayReader(this.#compile(definition.items, namespace));
      case 'map':
        return mapReader(this.#compile(definition.values, namespace));
      default:
        return this.#reference(type, namespace);
    }
  }

  #reference(name: string, namespace: string): ReadAvro {
    if (Object.hasOwn(primitives, name)) return primitives[name] as ReadAvro;
    const found = this.#named.get(fullName(name, namespace)) ?? this.#named.get(name);
    if (found === undefined) {
      throw new SchemaFault(`a type must be defined before it is used: ${shownName(name)} is not`);
    }
    return found;
  }

  #register(definition: Definition, namespace: string, read: ReadAvro): ReadAvro {
    const logical = logicalReader(definition, read) ?? read;
    this.#named.set(nameOf(definition, namespace), logical);
    return read;
  }

  #union(branches: readonly unknown[], namespace: string): ReadAvro {
    const readers = branches.map((branch) => this.#compile(branch, namespace));
    return (cursor) => {
      cursor.spend(1);
      const index = readLong(cursor);
      const read = readers[index as number];
      if (read !== undefined) return read(cursor);
      throw cursor.fault(
        `A union must be one of its ${readers.length} types: it is number ${index}`,
      );
    };
  }

  #record(definition: Definition, namespace: string): ReadAvro {
    const name = nameOf(definition, namespace);
    const dot = name.lastIndexOf('.');
    const inner = dot < 0 ? '' : name.slice(0, dot);
    // Registered before its fields, as they may hold records of this type again.
    let read: ReadAvro | undefined;
    this.#named.set(name, (cursor) => (read as ReadAvro)(cursor));
    const { fields } = definition;
    if (!Array.isArray(fields))
      throw new SchemaFault(`record ${shownName(name)} must have a list of fields`);
    read = recordReader(fields.map((field: unknown) => this.#field(field, inner)));
    return read;
  }

  #field(field: unknown, namespace: string): readonly [string, ReadAvro] {
    const { name, type } = Object(field) as Definition;
    if (typeof name !== 'string') throw new SchemaFault('a field must have a name');
    return [name, this.#compile(type, namespace)];
  }
}

function nameOf({ name, namespace: own }: Definition, namespace: string): string {
  if (typeof name !== 'string' || name === '') {
    throw new SchemaFault('a record, enum or fixed must have a name');
  }
  return fullName(name, typeof own === 'string' ? own : namespace);
}

function fullName(name: string, namespace: string): string {
  return name.includes('.') || namespace === '' ? name : `${namespace}.${name}`;
}

function recordReader(fields: readonly (readonly [string, ReadAvro])[]): ReadAvro {
  return (cursor) => {
    cursor.enter();
    cursor.spend(fields.length + 1);
    const record: Record<string, unknown> = {};
    for (const [name, read] of fields) setOwn(record, name, read(cursor));
    cursor.leave();
    return record;
  };
}

function enumReader({ symbols }: Definition): ReadAvro {
  if (!Array.isArray(symbols)) throw new SchemaFault('an enum must have a list of symbols');
  const names = symbols.map(String);
  return (cursor) => {
    const index = readLong(cursor);
    const symbol = names[index as number];
    if (symbol !== undefined) return symbol;
    throw cursor.fault(`An enum must be one of its ${names.length} symbols: it is number ${index}`);
  };
}

function fixedReader({ size }: Definition): ReadAvro {
  if (!Number.isSafeInteger(size) || (size as number) < 0) {
    throw new SchemaFault(`a fixed must have a size >= 0: it is ${shownName(size)}`);
  }
  return (cursor) => cursor.hex(size as number);
}

function arrayReader(read: ReadAvro): ReadAvro {
  return (cursor) => {
    cursor.enter();
    cursor.spend(1);
    const items: unknown[] = [];
    for (let left = blockCount(cursor); left > 0; left = blockCount(cursor)) {
      for (; left > 0; left--) {
        cursor.spend(1);
        items.push(read(cursor));
      }
    }
    cursor.leave();
    return items;
  };
}

function mapReader(read: ReadAvro): ReadAvro {
  return (cursor) => {
    cursor.enter();
    cursor.spend(1);
    const map: Record<string, unknown> = {};
    for (let left = blockCount(cursor); left > 0; left = blockCount(cursor)) {
      for (; left > 0; left--) {
        cursor.spend(2);
        const key = cursor.text(readLength(cursor, 'A key'));
        setOwn(map, key, read(cursor));
      }
    }
    cursor.leave();
    return map;
  };
}

/** Number of items in the next block, 0 after the last. A negative one is followed by the block's bytes. */
function blockCount(cursor: ByteCursor): number {
  const count = Number(readLong(cursor));
  if (count >= 0) return count;
  readLong(cursor);
  return -count;
}
