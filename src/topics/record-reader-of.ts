import { invariant } from '../base/invariant.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { TextLines } from '../formats/mapping/text-lines.ts';
import { avroRecords } from '../formats/records/avro/avro-records.ts';
import { JsonReader } from '../formats/records/json-reader.ts';
import { framedProtobuf, plainProtobuf } from '../formats/records/protobuf/protobuf-records.ts';
import type { Framing, RecordReader } from '../formats/records/record-reader.ts';
import { SchemaFault } from '../formats/records/schema-fault.ts';
import {
  FileReader,
  RegistryReader,
  type Serialization,
} from '../formats/records/schema-reader.ts';
import type { SchemaSource } from '../formats/records/schema-source.ts';

/** A user's own schema. */
export interface SchemaFile {
  /** Name of the file, for messages. */
  readonly file: string;
  readonly text: string;
}

/** Serialization of a topic's records. */
export type RecordFormat =
  | {
      readonly format: 'json';
      readonly framing: Framing;
      /** Form of lines that are read as well as JSON. */
      readonly lines?: TextLines | undefined;
    }
  | {
      readonly format: 'avro' | 'protobuf';
      readonly framing: 'confluent';
      readonly schemas: SchemaSource;
      /** Protobuf: name of the message that is meant where serializers count its index differently. */
      readonly message?: string | undefined;
    }
  | { readonly format: 'avro'; readonly framing: 'none'; readonly schema: SchemaFile }
  | {
      readonly format: 'protobuf';
      readonly framing: 'none';
      readonly schema: SchemaFile;
      /** Name of the message, with its package or without. @default {the first of the file} */
      readonly message?: string | undefined;
    };

/**
 * Makes the reader of a topic's records. Readers may share a source of schemas.
 *
 * @throws {OperatorError} TAILMARK_CONFIG_INVALID if the user's schema cannot be used.
 */
export function recordReaderOf(options: RecordFormat): RecordReader {
  const { format, framing } = options;
  if (format === 'json') return new JsonReader(framing, options.lines);
  if (framing === 'confluent') {
    return format === 'avro'
      ? new RegistryReader(avroRecords, options.schemas)
      : new RegistryReader(framedProtobuf(options.message), options.schemas);
  }
  invariant('schema' in options, 'records without a header have a schema');
  return format === 'avro'
    ? fileReader(avroRecords, options.schema)
    : fileReader(plainProtobuf(options.message), options.schema);
}

function fileReader<Compiled>(
  serialization: Serialization<Compiled>,
  { file, text }: SchemaFile,
): RecordReader {
  const { type } = serialization;
  try {
    const compiled = serialization.compile({ type, text, references: [] });
    return new FileReader(serialization, compiled);
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error;
    throw new OperatorError(
      'TAILMARK_CONFIG_INVALID',
      `Cannot use the schema in schema_file ${file}: ${error.message}`,
      {
        hint:
          type === 'AVRO'
            ? 'The file holds one Avro schema as JSON (.avsc).'
            : 'The file is a .proto file that imports nothing but google/protobuf/*.proto.',
        cause: error,
      },
    );
  }
}
