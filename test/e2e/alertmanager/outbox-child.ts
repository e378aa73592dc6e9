import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { poll } from '../kit/poll.ts';

const script = fileURLToPath(new URL('outbox-process.js', import.meta.url));

/** The process that delivers, and its successors. What was not stored when it was killed is sent to the next. */
export class OutboxChild {
  readonly #env: Readonly<Record<string, string>>;
  /** Events that are not known to be stored, by `id/revision`. */
  readonly #unstored = new Map<string, AnomalyEvent>();
  #child: ChildProcess | undefined;
  #hasStarted = false;

  constructor(env: Readonly<Record<string, string>>) {
    this.#env = env;
  }

  async start(): Promise<void> {
    const { PATH, HOME } = process.env;
    const env = { PATH, HOME, ...this.#env };
    const child = spawn(process.execPath, [script], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    // A killed process reads no more.
    child.stdin.on('error', () => undefined);
    this.#child = child;
    this.#hasStarted = false;
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line === 'started') this.#hasStarted = true;
      else this.#unstored.delete(line.replace('stored ', ''));
    });
    await poll('the outbox has started', () => {
      if (child.exitCode !== null) throw new Error(`the outbox ended with ${child.exitCode}`);
      return this.#hasStarted ? true : undefined;
    });
    for (const event of this.#unstored.values()) this.#write(event);
  }

  emit(event: AnomalyEvent): void {
    this.#unstored.set(`${event.id}/${event.revision}`, event);
    this.#write(event);
  }

  get hasStoredAll(): boolean {
    return this.#unstored.size === 0;
  }

  /** `kill -9`. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  #write(event: AnomalyEvent): void {
    this.#child?.stdin?.write(`${JSON.stringify(event)}\n`);
  }
}
