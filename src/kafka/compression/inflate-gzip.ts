import { promisify } from 'node:util';
import { unzip } from 'node:zlib';
import { InflateError } from './inflate-error.ts';

const unzipped = promisify(unzip);

/** Inflates gzip (RFC 1952) off the main thread, up to `maxBytes`. */
export async function inflateGzip(bytes: Buffer, maxBytes: number): Promise<Buffer> {
  try {
    return await unzipped(bytes, { maxOutputLength: maxBytes, chunkSize: 64 * 1024 });
  } catch (error) {
    const isTooLarge =
      error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    if (isTooLarge) throw new InflateError(`inflate to at most ${maxBytes} bytes: it is larger`);
    throw new InflateError(`be gzip: ${error instanceof Error ? error.message : String(error)}`);
  }
}
