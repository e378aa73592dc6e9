import type { StatePart } from '../../detect/state-parts.ts';
import type { ResponseStream } from '../row-binary/row-binary-of.ts';
import { RowBinaryReader } from '../row-binary/row-binary-reader.ts';

/**
 * Decodes rows of sql/queries/detector_state.sql as they arrive. Memory: two parts, each about 300 KB for a
 * series of ten stages.
 *
 * @throws RangeError when the response ends within a part.
 */
export async function* decodedParts(response: ResponseStream): AsyncGenerator<StatePart, void> {
  let pieces: Buffer[] = [];
  let length = 0;
  // Pieces of a part are joined once twice the bytes are there that were too few.
  let enough = 0;
  for await (const piece of response) {
    pieces.push(piece as Buffer);
    length += (piece as Buffer).length;
    if (length < enough) continue;
    const rest = yield* wholeParts(Buffer.concat(pieces));
    pieces = [rest];
    length = rest.length;
    enough = 2 * length;
  }
  const rest = yield* wholeParts(Buffer.concat(pieces));
  if (rest.length > 0) {
    throw new RangeError(`the response ends within a part, after ${rest.length} bytes of it`);
  }
}

/** Yields the complete parts; returns the remaining bytes. */
function* wholeParts(bytes: Buffer): Generator<StatePart, Buffer> {
  const reader = new RowBinaryReader(bytes);
  let from = 0;
  while (!reader.atEnd) {
    const part = nextPart(reader);
    if (part === undefined) break;
    from = reader.at;
    yield part;
  }
  return Buffer.from(bytes.subarray(from));
}

function nextPart(reader: RowBinaryReader): StatePart | undefined {
  try {
    const name = reader.string();
    return { name, bytes: reader.readBytes(reader.varUint()) };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
