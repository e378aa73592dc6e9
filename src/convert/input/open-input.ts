import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { messageOf } from '../../base/failure.ts';
import { inflatedText, refuseOtherEncodings, unreadable } from '../../source/event-text.ts';
import { avroContainer } from '../avro/avro-container.ts';
import type { InputFile } from '../file-format.ts';

/** Characters of a file's beginning by which its format is recognised. */
const HEAD_CHARS = 64 * 1024;
const PIECE_BYTES = 64 * 1024;

export interface OpenedInput extends InputFile {
  readonly sizeBytes: number;
  /** Beginning of the text, up to 64 Ki characters. */
  readonly head: string;
  /** True for no bytes, and for blank lines alone. */
  readonly isEmpty: boolean;
}

/**
 * Opens a file to convert. The bytes decide about gzip, not the name. Memory: one piece of 64 KiB.
 *
 * @param onBytes receives the number of bytes read, as they lie in the file.
 * @throws OperatorError where it cannot be read, or is neither UTF-8 text nor an Avro container.
 */
export async function openInput(
  path: string,
  onBytes: (bytes: number) => void,
): Promise<OpenedInput> {
  const found = await stat(path).catch((error: unknown) => {
    throw unreadable(path, messageOf(error), 'Give a file that exists and that you may read.');
  });
  if (!found.isFile()) {
    const hint = 'Write it to a file first: the beginning is read twice, to recognise the format.';
    throw unreadable(path, 'it must be a file, and is a pipe, a directory or a device', hint);
  }
  const { size } = found;
  const textOf = (count: typeof onBytes) => {
    const pieces = createReadStream(path, { highWaterMark: PIECE_BYTES });
    return inflatedText(counted(pieces, count), path, refuseOther);
  };
  const head = await headOf(textOf(() => undefined));
  return {
    name: basename(path),
    sizeBytes: size,
    head,
    isEmpty: head.length < HEAD_CHARS && head.trim() === '',
    open: () => textOf(onBytes),
  };
}

/** Binary files are Avro containers, or none. */
function refuseOther(head: Buffer, name: string): void {
  if (avroContainer.recognise(head.toString('latin1'), name) === undefined) {
    refuseOtherEncodings(head, name);
  }
}

/** Counts pieces as they are taken: a listener for data would read ahead of who takes them. */
async function* counted(
  pieces: AsyncIterable<Buffer>,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Buffer, void> {
  for await (const piece of pieces) {
    onBytes(piece.length);
    yield piece;
  }
}

async function headOf(pieces: AsyncIterable<Buffer>): Promise<string> {
  const found: Buffer[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    found.push(piece);
    bytes += piece.length;
    if (bytes >= HEAD_CHARS) break;
  }
  return Buffer.concat(found).toString('utf8').slice(0, HEAD_CHARS);
}
