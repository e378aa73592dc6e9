import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { exitCodes } from '../base/exit-codes.ts';
import { messageOf } from '../base/failure.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { Io } from './io.ts';

/** An Io on the process's own streams, and the functions for its end. */
export interface ProcessIo {
  readonly io: Io;
  /** True when the reader of standard output has gone (`tailmark tails | head`). */
  isPipeClosed(): boolean;
  /** Waits until standard output has accepted or refused everything, then lets the process end. */
  finish(): Promise<void>;
}

/** Longest time for a command to end after its reader has gone, milliseconds. */
const closedPipeGraceMs = 5_000;

/**
 * Binds the process: the first SIGINT or SIGTERM aborts `io.signal`, a second SIGINT ends the
 * process with 130 at once. A closed standard output aborts too: results have no reader.
 */
export function createIo(): ProcessIo {
  const { stdin, stdout, stderr, env } = process;
  const abort = new AbortController();
  let isPipeClosed = false;
  let closedPipeTimer: NodeJS.Timeout | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    if (abort.signal.aborted && signal === 'SIGINT') process.exit(exitCodes.interrupted);
    abort.abort(signal);
  };
  const onOutError = (error: NodeJS.ErrnoException) => {
    if (isPipeClosed) return;
    if (error.code !== 'EPIPE') {
      throw new OperatorError(
        'TAILMARK_PATH_UNWRITABLE',
        `Cannot write to standard output: ${messageOf(error)}`,
        { hint: 'Give space or permission where standard output goes.', cause: error },
      );
    }
    isPipeClosed = true;
    abort.abort('EPIPE');
    closedPipeTimer ??= setTimeout(() => process.exit(0), closedPipeGraceMs).unref();
  };
  // A standard error that is closed or full is ignored, as no message can reach a reader.
  const onErrError = () => undefined;
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  stdout.on('error', onOutError);
  stderr.on('error', onErrError);
  const isTty = stdout.isTTY === true;
  const io: Io = {
    out: (text) => {
      if (!isPipeClosed) stdout.write(text);
    },
    outDrained: async () => {
      if (isPipeClosed || !stdout.writableNeedDrain) return;
      await once(stdout, 'drain', { signal: abort.signal }).catch(() => undefined);
    },
    err: (text) => {
      stderr.write(text);
    },
    stdin,
    env,
    isErrTty: stderr.isTTY === true,
    color: wantsColor(env, isTty),
    signal: abort.signal,
    columnCount: isTty ? stdout.columns : undefined,
  };
  const finish = async () => {
    // A refused write is reported after its call, so the listener must stay until then.
    if (!isPipeClosed) await new Promise((resolve) => stdout.write('', resolve));
    await setImmediate();
    clearTimeout(closedPipeTimer);
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    stdout.off('error', onOutError);
    stderr.off('error', onErrError);
  };
  return { io, isPipeClosed: () => isPipeClosed, finish };
}

/** Decides by NO_COLOR, then FORCE_COLOR, then TERM=dumb, then by the terminal. */
export function wantsColor(
  env: Readonly<Record<string, string | undefined>>,
  isTty: boolean,
): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  return isTty && env.TERM !== 'dumb';
}
