import { ByteCursor } from '../byte-cursor.ts';
import { SchemaFault } from '../schema-fault.ts';
import type { Serialization } from '../schema-reader.ts';
import { compileAvro, type ReadAvro } from './compile-avro.ts';

/** Avro's binary encoding (specification 1.11). Each record is read by the schema it was written with. */
export const avroRecords: Serialization<ReadAvro> = {
  type: 'AVRO',
  reason: 'invalid_avro',
  compile: ({ text, references }) =>
    compileAvro(
      text,
      references.map((reference) => reference.text),
    ),
  read(read, message, start) {
    const cursor = new ByteCursor(message, start, message.length, 'invalid_avro');
    const record = read(cursor);
    if (cursor.pos < cursor.end) {
      const rule = 'A record must end with its message';
      throw cursor.fault(`${rule}: ${cursor.end - cursor.pos} bytes follow, as of another schema`);
    }
    if (typeof record === 'object' && record !== null && !Array.isArray(record)) return record;
    throw new SchemaFault('an event must be a record: the schema is of another type');
  },
};
