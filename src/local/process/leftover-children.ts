import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '../wait-until.ts';
import { processIdentity } from './process-identity.ts';

interface Child {
  readonly pid: number;
  readonly identity: string;
}

const fileName = 'children.json';
const graceMs = 10_000;

/**
 * Records the programs that use a directory. They end within seconds after their parent was killed; the next
 * holder of the directory waits for them.
 */
export class LeftoverChildren {
  readonly #path: string;
  readonly #children: Child[] = [];

  constructor(dir: string) {
    this.#path = join(dir, fileName);
  }

  add(pid: number): void {
    const identity = processIdentity(pid);
    if (identity === null) return;
    this.#children.push({ pid, identity });
    writeFileSync(this.#path, `${JSON.stringify(this.#children)}\n`);
  }

  /** Must be called when all have exited. */
  forget(): void {
    this.#children.length = 0;
    rmSync(this.#path, { force: true });
  }

  /** Resolves when no program of an earlier holder runs; kills those that do not exit. */
  async awaitEarlier(signal?: AbortSignal): Promise<void> {
    const earlier = this.#read();
    const running = () => earlier.filter(({ pid, identity }) => processIdentity(pid) === identity);
    const gone = async () => running().length === 0;
    const options = { deadlineMs: graceMs, intervalMs: 100, signal };
    if (await waitUntil(gone, options)) return this.forget();
    for (const { pid } of running()) process.kill(pid, 'SIGKILL');
    await waitUntil(gone, options);
    this.forget();
  }

  #read(): Child[] {
    try {
      const value: unknown = JSON.parse(readFileSync(this.#path, 'utf8'));
      if (!Array.isArray(value)) return [];
      return value.filter(
        (child: Partial<Child> | null): child is Child =>
          typeof child?.pid === 'number' && typeof child.identity === 'string',
      );
    } catch {
      return [];
    }
  }
}
