import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { exitCodes } from '../base/exit-codes.ts';
import { messageOf } from '../base/failure.ts';
import { OperatorError } from '../base/operator-error.ts';

/** Bytes that show a file's form. Fewer if a line ends before. */
const HEAD_BYTES = 512;
const GUNZIPPED_BYTES = 1 << 20;
const NEW_LINE = 10;

/**
 * The NDJSON of a file or standard input, in pieces. The bytes decide about the form, not the name: gzip is
 * unpacked, a byte order mark is dropped.
 *
 * @param name of the file, for errors.
 * @throws OperatorError for UTF-16, for JSON over several lines, and for a stream that cannot be read.
 */
export function eventText(
  stream: AsyncIterable<Buffer | string>,
  name: string,
): AsyncGenerator<Buffer, void> {
  return inflatedText(stream, name, (head) => {
    refuseOtherEncodings(head, name);
    refuseOtherForms(head, name);
  });
}

/**
 * The UTF-8 text of a stream, inflated where its bytes are gzip's, without a byte order mark.
 *
 * @param refuse throws for the first 512 bytes of what cannot be read, or the first line. @default {what is not UTF-8 text}
 * @throws OperatorError for UTF-16 or a binary file, and for a stream that cannot be read.
 */
export async function* inflatedText(
  stream: AsyncIterable<Buffer | string>,
  name: string,
  refuse: (head: Buffer, name: string) => void = refuseOtherEncodings,
): AsyncGenerator<Buffer, void> {
  const pieces = piecesOf(stream, name)[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  while (head.length < HEAD_BYTES && !head.includes(NEW_LINE)) {
    const { done, value } = await pieces.next();
    if (done === true) break;
    head = Buffer.concat([head, value]);
  }
  const all = startingWith(head, pieces);
  if (head[0] === 0x1f && head[1] === 0x8b) {
    yield* inflatedText(gunzipped(all), name, refuse);
    return;
  }
  refuse(head, name);
  yield* all;
}

/** Errors of the stream are the operator's to fix; errors of who reads the pieces pass through. */
async function* piecesOf(
  stream: AsyncIterable<Buffer | string>,
  name: string,
): AsyncGenerator<Buffer, void> {
  try {
    for await (const piece of stream) yield Buffer.isBuffer(piece) ? piece : Buffer.from(piece);
  } catch (error) {
    throw error instanceof OperatorError ? error : unreadableStream(name, error);
  }
}

/** The command line is right where a gzip is damaged: the command began, and did not complete. */
function unreadableStream(name: string, error: unknown): OperatorError {
  const isDamaged = String((error as NodeJS.ErrnoException).code).startsWith('Z_');
  if (!isDamaged) return unreadable(name, messageOf(error), 'Give a file that you may read.');
  return new OperatorError(
    'TAILMARK_FILE_UNREADABLE',
    `Cannot read ${name} to its end: its gzip is cut short or damaged (${messageOf(error)})`,
    { hint: 'Copy the file again; gzip -t checks it.', exitCode: exitCodes.failed },
  );
}

async function* startingWith(
  head: Buffer,
  pieces: AsyncIterator<Buffer, void>,
): AsyncGenerator<Buffer, void> {
  const hasMark = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf;
  try {
    yield hasMark ? head.subarray(3) : head;
    for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) {
      yield next.value;
    }
  } finally {
    await pieces.return?.();
  }
}

function gunzipped(pieces: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  // Errors on either side come out where the pieces are read.
  return pipeline(
    Readable.from(pieces, { objectMode: false }),
    createGunzip({ chunkSize: GUNZIPPED_BYTES }),
    () => undefined,
  );
}

/** @throws OperatorError for UTF-16 and for a binary file. */
export function refuseOtherEncodings(head: Buffer, name: string): void {
  const mark = head.toString('latin1', 0, 2);
  if (mark === '\xff\xfe' || mark === '\xfe\xff' || head.includes(0)) {
    throw unreadable(
      name,
      'it must be UTF-8 text; it is UTF-16 or binary',
      'Convert it: iconv -f UTF-16 -t UTF-8.',
    );
  }
}

function refuseOtherForms(head: Buffer, name: string): void {
  const [firstLine = ''] = head.toString('utf8').trimStart().split('\n', 1);
  if (/^[[{]\s*$/.test(firstLine) && head.includes(NEW_LINE)) {
    throw unreadable(
      name,
      'it must have an event in each line; it is JSON over several lines',
      "Convert it: jq -c '.[]' for an array of events, jq -c . for events one after the other.",
    );
  }
}

export function unreadable(
  name: string,
  reason: string,
  hint = 'Give an NDJSON file of timing events, gzipped or not. `tailmark convert` makes one of spans, access logs and load-test results.',
): OperatorError {
  return new OperatorError('TAILMARK_FILE_UNREADABLE', `Cannot read ${name}: ${reason}`, { hint });
}

/** The error for a file of which none of `count` events counts. */
export function withoutEvents(name: string, count: number, why: string): OperatorError {
  const found = count === 0 ? 'it is empty' : `none of ${count} counts (${why})`;
  return unreadable(name, `it must hold timing events; ${found}`);
}
