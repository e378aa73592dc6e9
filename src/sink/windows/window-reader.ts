import type { ClickHouseClient } from '@clickhouse/client';
import { systemClock } from '../../base/clock.ts';
import { type ResponseStream, rowBinaryStream } from '../row-binary/row-binary-of.ts';
import type { WindowDecoder, WindowsAt } from './window-decoder.ts';

/** Half-open range of window starts. */
export interface WindowRange {
  readonly fromMs: number;
  readonly toMs: number;
  readonly windowMs: number;
}

/** Bytes decoded between two turns of the event loop: about ten milliseconds. */
const bytesATurn = 1024 * 1024;

/** Queries all series of a range of windows, in the order of their starts. */
export function openWindows(client: ClickHouseClient, range: WindowRange): Promise<ResponseStream> {
  return rowBinaryStream(client, 'series_windows', {
    windowSeconds: range.windowMs / 1000,
    fromSeconds: Math.floor(range.fromMs / 1000),
    toSeconds: Math.floor(range.toMs / 1000),
  });
}

/** Decodes windows as they arrive. Memory: one window of all series, 1.5 kB per series and stage. */
export async function* decodedWindows(
  response: ResponseStream,
  decoder: WindowDecoder,
): AsyncGenerator<WindowsAt, void> {
  let bytes = 0;
  for await (const part of response) {
    yield* decoder.decode(part as Buffer);
    bytes += (part as Buffer).length;
    if (bytes < bytesATurn) continue;
    bytes = 0;
    await systemClock.breathe();
  }
  yield* decoder.end();
}
