import { inflateRawSync } from 'node:zlib';
import { messageOf } from '../../base/failure.ts';
import type { ByteStream } from './byte-stream.ts';

/** Bytes that every container begins with: "Obj" and version 1. */
const magic = Buffer.from('Obj\x01');
const syncBytes = 16;
/** Largest entry of the metadata, such as the schema, and most of them. */
const metadataBytes = 4 * 1024 * 1024;
const metadataEntries = 1_000;
/** Largest block, as it lies in the file and inflated. Writers make blocks of kilobytes. */
const blockBytes = 64 * 1024 * 1024;

/** The reason why the rest of a container cannot be read. */
export class ContainerFault extends Error {}

/** Records one after another, in binary encoding. */
export interface ContainerBlock {
  /** Counts from 1. */
  readonly number: number;
  readonly recordCount: number;
  readonly bytes: Buffer;
}

interface Container {
  /** Schema of its records, as JSON. */
  readonly schema: string;
  readonly blocks: AsyncGenerator<ContainerBlock, void>;
}

/**
 * Opens an Avro object container file (specification 1.11): a schema, and blocks of records, plain or by
 * deflate. Memory: one block.
 *
 * @throws {ContainerFault} at once, and from `blocks`, where the bytes are not such a file or end within it.
 */
export async function openContainer(stream: ByteStream): Promise<Container> {
  if (!(await stream.take(magic.length)).equals(magic)) {
    throw new ContainerFault('An Avro container must begin with "Obj" and byte 1: this does not');
  }
  const metadata = await metadataOf(stream);
  const sync = await whole(stream, syncBytes, 'the marker of the header');
  const schema = metadata.get('avro.schema');
  if (schema === undefined) throw new ContainerFault('An Avro container must have a schema');
  const codec = metadata.get('avro.codec')?.toString() ?? 'null';
  if (codec !== 'null' && codec !== 'deflate') {
    const rule = 'An Avro container must have the codec null or deflate';
    throw new ContainerFault(`${rule}: it has ${JSON.stringify(codec.slice(0, 40))}`);
  }
  return { schema: schema.toString(), blocks: blocksOf(stream, codec, sync) };
}

async function metadataOf(stream: ByteStream): Promise<ReadonlyMap<string, Buffer>> {
  const found = new Map<string, Buffer>();
  for (let left = await long(stream, 'the metadata'); left !== 0; ) {
    // A negative count is followed by the bytes of its entries.
    if (left < 0) await long(stream, 'the metadata');
    for (left = Math.abs(left); left > 0; left--) {
      const key = await sized(stream, 'a key of the metadata');
      found.set(key.toString(), await sized(stream, 'a value of the metadata'));
      if (found.size > metadataEntries) {
        throw new ContainerFault(`The metadata must have at most ${metadataEntries} entries`);
      }
    }
    left = await long(stream, 'the metadata');
  }
  return found;
}

async function* blocksOf(
  stream: ByteStream,
  codec: 'null' | 'deflate',
  sync: Buffer,
): AsyncGenerator<ContainerBlock, void> {
  for (let number = 1; ; number++) {
    const recordCount = await long(stream, `block ${number}`, 'may end before');
    if (recordCount === undefined) return;
    const size = await long(stream, `block ${number}`);
    if (recordCount < 0 || size < 0 || size > blockBytes) {
      const found = `${recordCount} records in ${size} bytes`;
      throw new ContainerFault(
        `Block ${number} must have at most ${blockBytes} bytes: it announces ${found}`,
      );
    }
    const packed = await whole(stream, size, `block ${number}`);
    const marker = await whole(stream, syncBytes, `block ${number}`);
    if (!marker.equals(sync)) {
      throw new ContainerFault(`Block ${number} must end with the file's marker: it does not`);
    }
    const bytes = codec === 'null' ? packed : inflated(packed, number);
    yield { number, recordCount, bytes };
  }
}

function inflated(packed: Buffer, number: number): Buffer {
  try {
    return inflateRawSync(packed, { maxOutputLength: blockBytes });
  } catch (error) {
    throw new ContainerFault(
      `Block ${number} must inflate to at most ${blockBytes} bytes: ${messageOf(error)}`,
    );
  }
}

/** Bytes with their length before them. */
async function sized(stream: ByteStream, what: string): Promise<Buffer> {
  const length = await long(stream, what);
  if (length >= 0 && length <= metadataBytes) return whole(stream, length, what);
  throw new ContainerFault(`The length of ${what} must be 0 to ${metadataBytes}: it is ${length}`);
}

async function whole(stream: ByteStream, count: number, what: string): Promise<Buffer> {
  const bytes = await stream.take(count);
  if (bytes.length === count) return bytes;
  throw new ContainerFault(`An Avro container must be complete: it ends within ${what}`);
}

/** Reads a long, a zigzag varint. Exact up to 2^53; a larger one is refused by who reads it. */
async function long(stream: ByteStream, what: string): Promise<number>;
async function long(
  stream: ByteStream,
  what: string,
  end: 'may end before',
): Promise<number | undefined>;
async function long(
  stream: ByteStream,
  what: string,
  end?: 'may end before',
): Promise<number | undefined> {
  let value = 0;
  for (let i = 0; i < 10; i++) {
    const [byte] = await stream.take(1);
    if (byte === undefined && i === 0 && end !== undefined) return undefined;
    if (byte === undefined) await whole(stream, 1, what);
    value += ((byte as number) & 0x7f) * 2 ** (7 * i);
    if ((byte as number) < 0x80) return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
  throw new ContainerFault(`A number of ${what} must have at most 10 bytes: it has more`);
}
