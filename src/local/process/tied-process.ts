import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../cache-dir.ts';

export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A program that ends with this process at the latest. */
export interface ChildHandle {
  /** Process id of the program itself. */
  readonly pid: number;
  /** Resolves when it exits; never rejects. */
  readonly exited: Promise<ChildExit>;
  /** Stops it, by force after the grace; resolves when it has exited. May be called again. */
  stop(): Promise<void>;
}

export interface TiedProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Environment;
  /** Receives standard error, and standard output unless `onOutput` is given. */
  readonly logFd: number;
  readonly onOutput?: (text: string) => void;
  /** Time from SIGTERM to SIGKILL. */
  readonly graceMs: number;
}

const script = fileURLToPath(new URL('../../../bin/child/tied.js', import.meta.url));
/** Time that the intermediate process may use after the grace before both are killed. */
const marginMs = 2_000;

/**
 * Starts a program through bin/child/tied.js, which ends it when this process ends, even by kill -9. If the
 * intermediate process is killed, this process kills the program.
 */
export async function startTiedProcess(options: TiedProcessOptions): Promise<ChildHandle> {
  const { command, args, cwd, env, logFd, onOutput, graceMs } = options;
  const tie = spawn(process.execPath, [script, String(graceMs), command, ...args], {
    cwd,
    env: { ...env, NODE_OPTIONS: '' },
    stdio: ['pipe', onOutput === undefined ? logFd : 'pipe', logFd, 'pipe'],
  });
  tie.stdout?.setEncoding('utf8').on('data', (output: string) => onOutput?.(output));
  const ended = exitOf(tie);
  const pid = await Promise.race([readPid(tie.stdio[3] as Readable), ended.then(() => null)]);
  const exited = ended.then((exit) => {
    if (pid !== null && exit.signal !== null) kill(pid);
    return exit;
  });
  return handleOf(tie, pid ?? tie.pid ?? 0, exited, graceMs + marginMs);
}

/** Makes the handle of a child that exits when its standard input ends; kills it if it does not. */
export function handleOf(
  child: ChildProcess,
  pid: number,
  exited: Promise<ChildExit>,
  killAfterMs: number,
): ChildHandle {
  child.stdin?.on('error', () => {}); // The process may have exited already.
  return {
    pid,
    exited,
    stop: async () => {
      child.stdin?.end();
      const timer = setTimeout(() => child.kill('SIGKILL'), killAfterMs);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** Resolves when a child exits; a child that could not be started has exit code 127. */
export function exitOf(child: ChildProcess): Promise<ChildExit> {
  return new Promise((resolve) => {
    child.once('error', () => resolve({ code: 127, signal: null }));
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
}

async function readPid(pipe: Readable): Promise<number | null> {
  const pid = Number.parseInt(await text(pipe).catch(() => ''), 10);
  return Number.isNaN(pid) ? null : pid;
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has already exited.
  }
}
