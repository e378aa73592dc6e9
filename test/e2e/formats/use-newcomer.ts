import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect } from 'vitest';
import { poll } from '../kit/poll.ts';
import { type Child, startChild } from '../kit/start-child.ts';

/** What a newcomer has after the first steps of a page of the docs. */
export interface Newcomer {
  /** Path of the configuration that the page shows. */
  readonly config: string;
  /** Starts a command of tailmark, which ends with the test. */
  readonly start: (argv: readonly string[], env?: Readonly<Record<string, string>>) => Child;
  /** Starts `tailmark up`, and waits for the variables that it prints. */
  readonly up: () => Promise<{
    readonly env: Readonly<Record<string, string>>;
    readonly printed: () => string;
  }>;
}

/** Saves the configuration of a page of docs/how-to, ten lines at most, as its reader does. */
export function useNewcomer(page: string): () => Newcomer {
  const text = readFileSync(new URL(`../../../docs/how-to/${page}`, import.meta.url), 'utf8');
  const configuration =
    /<!-- newcomer: .*-->\n```yaml\n([\s\S]*?)```\n<!-- \/newcomer -->/.exec(text)?.[1] ?? '';
  const dir = mkdtempSync(join(tmpdir(), 'tailmark-newcomer-'));
  const children: Child[] = [];
  afterEach(async () => {
    for (const child of children.reverse()) {
      child.signal('SIGTERM');
      await child.exited;
    }
    rmSync(dir, { recursive: true, force: true });
  });

  return () => {
    const lines = configuration.trim().split('\n').length;
    expect(configuration).not.toBe('');
    expect(lines).toBeLessThanOrEqual(10);
    const config = join(dir, 'tailmark.yaml');
    writeFileSync(config, configuration);
    const start: Newcomer['start'] = (argv, env = {}) => {
      const child = startChild(argv, env);
      children.push(child);
      return child;
    };
    const up = async () => {
      const stack = start(['up', '--dir', join(dir, 'stack'), '--config', config]);
      const ready = await poll(
        'tailmark up is ready',
        () => {
          const found = [...stack.out().matchAll(/^ {2}export (\w+)=(.+)$/gm)];
          return found.length === 2 ? found : undefined;
        },
        { deadlineMs: 120_000, seen: () => stack.err() },
      );
      const env = Object.fromEntries(ready.map(([, name, value]) => [name, value]));
      return { env, printed: () => stack.out() };
    };
    return { config, start, up };
  };
}
