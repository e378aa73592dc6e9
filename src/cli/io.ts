import { once } from 'node:events';

/** Input and output of a command, so that tests run it in process. */
export interface Io {
  /** Writes results. */
  out(text: string): void;
  /** Resolves when written results are accepted, or their reader has gone. @default {at once} */
  outDrained?(): Promise<void>;
  /** Writes messages, progress and errors. */
  err(text: string): void;
  readonly stdin: NodeJS.ReadableStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** True where messages go to a terminal: progress bars are redrawn instead of printed as lines. */
  readonly isErrTty: boolean;
  readonly color: boolean;
  /** Columns of the terminal that shows results. @default {no limit} */
  readonly columnCount?: number | undefined;
  /** Aborted by SIGINT and SIGTERM: the command finishes its current work, then returns. */
  readonly signal: AbortSignal;
}

/** Values of a command's options, by their names in camelCase. */
export type Options = Readonly<Record<string, unknown>>;

/** Resolves when the signal is aborted. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
