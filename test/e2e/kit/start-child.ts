import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { poll } from './poll.ts';

const bin = fileURLToPath(new URL('../../../bin/tailmark.js', import.meta.url));

/** A `tailmark` in a process of its own, to be signalled. */
export interface Child {
  readonly pid: number;
  out(): string;
  err(): string;
  signal(name: NodeJS.Signals): void;
  /** Writes to its standard input, where it has one. */
  type(text: string): void;
  /** Resolves with the exit code, or the signal it died of, when its output is read. */
  readonly exited: Promise<number | NodeJS.Signals>;
  isOver(): boolean;
  /** Resolves when its log (or any message) contains the text so many times. */
  logged(text: string, times?: number): Promise<void>;
}

/**
 * @param env all of its environment, beside PATH and HOME
 * @param stdin whether it has a standard input
 */
export function startChild(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  stdin: 'ignore' | 'pipe' = 'ignore',
): Child {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [bin, ...argv], {
    env: { PATH, HOME, ...env },
    stdio: [stdin, 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const exited = once(child, 'close').then(
    ([code, signal]) => (code ?? signal) as number | NodeJS.Signals,
  );
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  return {
    pid: child.pid ?? 0,
    out: () => out,
    err: () => err,
    exited,
    isOver,
    signal: (name) => {
      child.kill(name);
    },
    type: (text) => {
      child.stdin?.write(text);
    },
    logged: async (text, times = 1) => {
      await poll(
        `process ${child.pid} says "${text}"`,
        () => (err.split(text).length > times || isOver() ? true : undefined),
        { seen: () => err.slice(-2_000) },
      );
      if (err.split(text).length <= times) throw new Error(`it ended instead: ${err}`);
    },
  };
}
