import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach } from 'vitest';
import { type Config, configSchema } from '../../../src/config/schema.ts';
import { processIdentity } from '../../../src/local/process/process-identity.ts';
import { type LocalStack, startLocalStack } from '../../../src/local/stack/local-stack.ts';
import { useStack } from '../../containers/stack.ts';
import { pollUntil } from '../../local/poll-until.ts';

export interface Endpoints {
  readonly kafka: { readonly brokers: string[]; readonly pid: number };
  readonly clickhouse: { readonly url: string; readonly database: string; readonly pid: number };
}

const bin = fileURLToPath(new URL('../../../bin/tailmark.js', import.meta.url));
export const stopDeadlineMs = 30_000;
export const portOf = (address: string) => Number(address.slice(address.lastIndexOf(':') + 1));
export const isRunning = (pid: number) => processIdentity(pid) !== null;
/** Local stacks of a file's tests, each in a directory of its own. Call it at the top of the file. */
export function useLocalStacks() {
  // Skips the tests, with the reason, where the machine lacks Java, Maven or chdb.
  useStack();
  let dir = '';
  let child: ChildProcess | undefined;
  let stack: LocalStack | undefined;
  const output = { out: '', err: '' };
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'tailmark-up-'));
  });
  afterEach(async () => {
    await stack?.stop();
    stack = undefined;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    child = undefined;
    rmSync(dir, { recursive: true, force: true });
  });
  return {
    dir: () => dir,
    output,
    /** Runs `tailmark up --json`; resolves when it has printed a line or has ended. */
    up: async (): Promise<ChildProcess> => {
      output.out = '';
      output.err = '';
      const started = spawn(process.execPath, [bin, 'up', '--json', '--dir', dir]);
      started.stdout.on('data', (part) => {
        output.out += part;
      });
      started.stderr.on('data', (part) => {
        output.err += part;
      });
      child = started;
      const isOver = () => started.exitCode !== null || started.signalCode !== null;
      await pollUntil('tailmark up is ready', () => output.out.includes('\n') || isOver(), 90_000);
      return started;
    },
    start: async (options: { fresh?: boolean } = {}): Promise<LocalStack> => {
      stack = await startLocalStack({ dir, ...options });
      return stack;
    },
    stop: async (): Promise<void> => {
      await stack?.stop();
      stack = undefined;
    },
  };
}

export function configOf(brokers: string[]): Config['kafka'] {
  return configSchema.parse({ kafka: { brokers } }).kafka;
}
