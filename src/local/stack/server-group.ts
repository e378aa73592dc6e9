import type { LocalProgress, OnLocalProgress } from '../local-progress.ts';
import type { ChildExit, ChildHandle } from '../process/tied-process.ts';

export interface LocalStackExit extends ChildExit {
  readonly part: LocalProgress['part'];
}

/** Servers that start at once and stop together. */
export class ServerGroup {
  readonly #starting = new Map<LocalProgress['part'], Promise<ChildHandle>>();
  readonly #onProgress: OnLocalProgress;
  readonly #failed = new AbortController();
  readonly #signal: AbortSignal;

  /** @param signal aborts the start of every server. */
  constructor(onProgress: OnLocalProgress, signal: AbortSignal | undefined) {
    this.#onProgress = onProgress;
    const failed = this.#failed.signal;
    this.#signal = signal === undefined ? failed : AbortSignal.any([signal, failed]);
  }

  /** Begins a start. The signal it gets is aborted when another server cannot start. */
  add<Server extends ChildHandle>(
    part: LocalProgress['part'],
    start: (signal: AbortSignal) => Promise<Server>,
  ): Promise<Server> {
    const starting = this.#reported(part, start(this.#signal));
    this.#starting.set(part, starting);
    return starting;
  }

  /** Resolves when all have started. @throws the first failure, after stopping all */
  async started(): Promise<void> {
    const results = await Promise.allSettled(this.#starting.values());
    if (results.every(({ status }) => status === 'fulfilled')) return;
    // A server that did start is still running.
    for (const result of results) if (result.status === 'fulfilled') await result.value.stop();
    throw this.#signal.reason;
  }

  /** Resolves when the first of them exits. */
  exited(): Promise<LocalStackExit> {
    return Promise.race(
      [...this.#starting].map(async ([part, server]) => ({
        part,
        ...(await (
          await server
        ).exited),
      })),
    );
  }

  async stop(): Promise<void> {
    const stopping = [...this.#starting.values()].map(async (server) => (await server).stop());
    await Promise.all(stopping);
  }

  async #reported<Server>(part: LocalProgress['part'], starting: Promise<Server>) {
    try {
      const server = await starting;
      this.#onProgress({ part, state: 'ready', text: 'ready' });
      return server;
    } catch (error) {
      this.#failed.abort(error);
      throw error;
    }
  }
}
