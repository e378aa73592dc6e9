import { readMapping } from '../../config/read/presets.ts';
import type { DraftSink } from '../../formats/format-reader.ts';
import { jsonBytes, objectOf } from '../../formats/loose-json.ts';
import { checkedMapping } from '../../formats/mapping/checked-mapping.ts';
import { compileMapping, type Mapped } from '../../formats/mapping/compile-mapping.ts';
import type { FoundFields } from '../../formats/mapping/found-fields.ts';
import { countedOnce, seenRequestsOf } from '../../formats/mapping/seen-requests.ts';
import { compileAvro, type ReadAvro } from '../../formats/records/avro/compile-avro.ts';
import { ByteCursor } from '../../formats/records/byte-cursor.ts';
import { RecordFault } from '../../formats/records/record-reader.ts';
import { SchemaFault } from '../../formats/records/schema-fault.ts';
import type { FileFormat, InputFile } from '../file-format.ts';
import { ByteStream } from './byte-stream.ts';
import { type ContainerBlock, ContainerFault, openContainer } from './container.ts';

/** Longest part of a block that cannot be read which goes into a dead letter. */
const maxBytesKept = 64 * 1024;

type MapRecord = (record: object) => Mapped;

/** Avro object container files. Without a mapping a record's own fields are those of a timing event. */
export const avroContainer: FileFormat = {
  name: 'avro_container',
  what: 'Avro object container files (null, deflate), with --mapping',
  recognise: (head) => (head.startsWith('Obj\x01') ? 'it begins with Obj and byte 1' : undefined),
  convert: convertBy((model) => (record) => ({ draft: { model, ...record } })),
};

/**
 * Makes the format of containers by a user's mapping.
 *
 * @param text YAML of the mapping.
 * @param file its name, for messages.
 * @param found watches which fields of it the records have.
 * @throws OperatorError TAILMARK_CONFIG_INVALID with every problem of the mapping and its place.
 */
export function mappedContainer(text: string, file: string, found?: FoundFields): FileFormat {
  const mapping = checkedMapping(readMapping(text, file), file);
  const convert = convertBy((model) => {
    const compiled = compileMapping(mapping, model);
    return countedOnce(found?.watch(mapping, compiled) ?? compiled, seenRequestsOf(mapping));
  });
  return { ...avroContainer, convert };
}

function convertBy(mapOf: (model: string | undefined) => MapRecord): FileFormat['convert'] {
  return async (files, { model }, sink) => {
    const map = mapOf(model);
    for (const file of files) await convertFile(file, map, sink);
  };
}

async function convertFile(file: InputFile, map: MapRecord, sink: DraftSink): Promise<void> {
  const stream = new ByteStream(file.open());
  try {
    const { schema, blocks } = await openContainer(stream);
    const read = compileAvro(schema);
    for await (const block of blocks) convertBlock(block, read, map, sink);
  } catch (error) {
    const isSchema = error instanceof SchemaFault;
    if (!isSchema && !(error instanceof ContainerFault)) throw error;
    const detail = isSchema ? `The schema cannot be used: ${error.message}` : error.message;
    sink.reject('invalid_avro', detail, { bytes: () => Buffer.alloc(0) });
  } finally {
    await stream.close();
  }
}

/** Converts the records of a block. Behind one that cannot be read, nobody knows where the next begins. */
function convertBlock(
  { number, recordCount, bytes }: ContainerBlock,
  read: ReadAvro,
  map: MapRecord,
  sink: DraftSink,
): void {
  let pos = 0;
  const reject = (detail: string) =>
    sink.reject('invalid_avro', detail, { bytes: () => bytes.subarray(pos, pos + maxBytesKept) });
  for (let at = 1; at <= recordCount; at++) {
    const cursor = new ByteCursor(bytes, pos, bytes.length, 'invalid_avro');
    let record: unknown;
    try {
      record = read(cursor);
    } catch (error) {
      if (!(error instanceof RecordFault)) throw error;
      reject(`Record ${at} of ${recordCount} in block ${number} ends it: ${error.message}`);
      return;
    }
    const object = objectOf(record);
    if (object === undefined || cursor.pos === pos) {
      throw new SchemaFault('an event must be a record with fields: the schema is of another type');
    }
    convertRecord(object, map, sink);
    pos = cursor.pos;
  }
  const left = bytes.length - pos;
  if (left > 0) reject(`Block ${number} must end with its last record: ${left} bytes follow`);
}

function convertRecord(record: object, map: MapRecord, sink: DraftSink): void {
  const origin = { bytes: () => jsonBytes((part) => part, record) };
  const mapped = map(record);
  if (mapped === 'skip') sink.skip(1);
  else if ('draft' in mapped) sink.draft(mapped.draft, origin);
  else sink.reject(mapped.reason, mapped.detail, origin);
}
