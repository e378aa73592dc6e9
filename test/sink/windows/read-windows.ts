import type { ClickHouseClient } from '@clickhouse/client';
import type { SeriesWindow } from '../../../src/series/series-window.ts';
import { eachWindow } from '../../../src/sink/windows/each-window.ts';
import { WindowDecoder } from '../../../src/sink/windows/window-decoder.ts';
import type { WindowRange } from '../../../src/sink/windows/window-range.ts';

/** Reads all series of a short range of windows into memory. */
export async function readWindows(
  client: ClickHouseClient,
  range: WindowRange,
): Promise<SeriesWindow[]> {
  const all: SeriesWindow[] = [];
  for await (const { windows } of eachWindow(client, range)) all.push(...windows);
  return all;
}

export function decodeWindows(bytes: Buffer, windowMs: number): SeriesWindow[] {
  const decoder = new WindowDecoder(windowMs);
  const found = [...decoder.decode(bytes), ...decoder.end()];
  return found.flatMap(({ windows }) => windows);
}
