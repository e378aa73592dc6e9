import { systemClock } from '../base/clock.ts';
import type { Config } from '../config/schema.ts';
import type { WindowsAt } from '../sink/windows/each-window.ts';
import { withoutEvents } from '../source/event-text.ts';
import { FileSource } from '../source/file-source.ts';
import { MemoryWindows, type MemoryWindowsOptions } from './memory-windows.ts';

export interface EventFile {
  /** `-` for standard input. */
  readonly path: string;
  readonly stdin: NodeJS.ReadableStream;
}

/**
 * Reads the events of a file as windows: NDJSON, gzipped or not.
 *
 * @param use is called after each batch and at the end with windows to take from, which are complete by then.
 * @throws OperatorError for a file that cannot be read, or of which no event counts.
 */
export async function readFileWindows(
  config: Config,
  { path, stdin }: EventFile,
  use: (complete: Iterable<WindowsAt>, windows: MemoryWindows) => void,
  options?: MemoryWindowsOptions,
): Promise<MemoryWindows> {
  const windows = new MemoryWindows(config, options);
  const source = new FileSource({
    path: path === '-' ? undefined : path,
    stdin,
    startedMs: systemClock.nowMs(),
    maxLineBytes: config.limits.max_message_bytes,
  });
  await source.start({
    onClaimed: async () => ({ offset: 0, knownTo: 0, leaderEpoch: -1 }),
    onBatch: async (_claim, { records }) => {
      for (let record = records.current; record !== undefined; record = records.current) {
        if (record.refused === undefined) windows.consume(record.value);
        else windows.refuse(record.refused.detail);
        records.advance();
      }
      use(windows.complete(false), windows);
    },
    onLost: () => undefined,
  });
  await source.done;
  use(windows.complete(true), windows);
  const { events, rejected } = windows.counts;
  if (events === rejected) throw withoutEvents(path, events, windows.firstRejection ?? '');
  return windows;
}
