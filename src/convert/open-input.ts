import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { messageOf } from '../base/failure.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { InputFile } from './file-format.ts';

/** Bytes of a file's beginning by which its format is recognised. */
const HEAD_BYTES = 64 * 1024;
const PIECE_BYTES = 64 * 1024;

export interface InputHooks {
  /** Told the bytes read of the file, before they are inflated. */
  readonly onBytes: (bytes: number) => void;
  /** Awaited between two pieces, so that what came out of one is written before the next is read. */
  readonly between: () => Promise<void>;
}

export interface OpenedInput extends InputFile {
  readonly sizeBytes: number;
  /** Beginning of the text, up to 64 KiB. */
  readonly head: string;
}

/**
 * Opens a file to convert. gzip is told from the bytes, not the name. Memory: one piece of 64 KiB.
 *
 * @throws OperatorError where it cannot be read.
 */
export async function openInput(path: string, hooks: InputHooks): Promise<OpenedInput> {
  const pieces = (until?: number) => inflated(path, until, hooks);
  try {
    const { size } = await stat(path);
    return {
      name: basename(path),
      sizeBytes: size,
      head: await headOf(pieces(HEAD_BYTES)),
      async *open() {
        try {
          for await (const piece of pieces()) {
            yield piece;
            await hooks.between();
          }
        } catch (error) {
          throw unreadable(path, error);
        }
      },
    };
  } catch (error) {
    throw unreadable(path, error);
  }
}

async function headOf(pieces: AsyncIterable<Buffer>): Promise<string> {
  const found: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of pieces) {
      found.push(piece);
      bytes += piece.length;
      if (bytes >= HEAD_BYTES) break;
    }
  } catch (error) {
    // The beginning of a gzipped file breaks off; what was inflated until then suffices.
    if (found.length === 0) throw error;
  }
  return Buffer.concat(found)
    .toString('utf8', 0, HEAD_BYTES)
    .replace(/^\ufeff/, '');
}

async function* inflated(
  path: string,
  until: number | undefined,
  { onBytes }: InputHooks,
): AsyncGenerator<Buffer, void> {
  const file = await open(path);
  const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0).finally(() => file.close());
  const stream = createReadStream(path, {
    highWaterMark: PIECE_BYTES,
    ...(until === undefined ? {} : { end: until - 1 }),
  });
  const raw = counted(stream, until === undefined ? onBytes : () => undefined);
  if (buffer[0] !== 0x1f || buffer[1] !== 0x8b) {
    yield* raw;
    return;
  }
  const text = pipeline(
    Readable.from(raw, { objectMode: false }),
    createGunzip({ chunkSize: PIECE_BYTES }),
    () => undefined,
  );
  for await (const piece of text) yield piece as Buffer;
}

/** Counts pieces as they are taken: a listener for data would read ahead of who takes them. */
async function* counted(
  stream: AsyncIterable<Buffer>,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Buffer, void> {
  for await (const piece of stream) {
    onBytes(piece.length);
    yield piece;
  }
}

function unreadable(path: string, error: unknown): unknown {
  if (error instanceof OperatorError) return error;
  const isSystem = error instanceof Error && 'code' in error;
  if (!isSystem) return error;
  return new OperatorError('TAILMARK_FILE_UNREADABLE', `Cannot read ${path}: ${messageOf(error)}`, {
    hint: 'Give a file that exists and that you may read, gzipped or not.',
    cause: error,
  });
}
