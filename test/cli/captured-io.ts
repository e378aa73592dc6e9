import { Readable } from 'node:stream';
import type { ExitCode } from '../../src/base/exit-codes.ts';
import type { Io } from '../../src/cli/io.ts';
import { main } from '../../src/main.ts';

export interface CapturedRun {
  readonly exitCode: ExitCode;
  readonly out: string;
  readonly err: string;
}

/** An Io that captures its output. */
export function capturedIo(overrides: Partial<Io> = {}): {
  io: Io;
  out: () => string;
  err: () => string;
} {
  let out = '';
  let err = '';
  const io: Io = {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    stdin: Readable.from([]),
    env: {},
    isErrTty: false,
    color: false,
    signal: new AbortController().signal,
    ...overrides,
  };
  return { io, out: () => out, err: () => err };
}

/** Runs a command line in process. */
export async function run(
  argv: readonly string[],
  overrides: Partial<Io> = {},
): Promise<CapturedRun> {
  const { io, out, err } = capturedIo(overrides);
  const exitCode = await main(argv, io);
  return { exitCode, out: out(), err: err() };
}
