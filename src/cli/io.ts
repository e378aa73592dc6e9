/** Where a command reads and writes, so that tests run it in process. */
export interface Io {
  /** Results. */
  out(text: string): void;
  /** Resolves when results that were written have been taken on, or nobody reads them any more. @default {at once} */
  outDrained?(): Promise<void>;
  /** Messages, progress and errors. */
  err(text: string): void;
  readonly stdin: NodeJS.ReadableStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether results go to a terminal: colours and tables rather than plain lines. */
  readonly isTty: boolean;
  /** Whether messages go to a terminal: progress bars redraw rather than print lines. */
  readonly isErrTty: boolean;
  readonly color: boolean;
  /** Columns of the terminal that shows results. @default {no limit} */
  readonly columnCount?: number;
  /** Aborted by SIGINT and SIGTERM: finish what was begun, then return. */
  readonly signal: AbortSignal;
}
