import { Worker } from 'node:worker_threads';
import { systemClock } from '../base/clock.ts';
import { Failure } from '../base/failure.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { MetricsSnapshot } from '../base/telemetry/metrics.ts';
import type { Config } from '../config/schema.ts';
import type { RunningIngest } from '../ingest/start-ingest-thread.ts';
import {
  unpackFailure,
  type WorkerData,
  type WorkerMessage,
  type WorkerRequest,
} from './worker-messages.ts';

/** Workers send a message every second. */
const SILENT_MS = 15_000;
/** After this time the last known counters are used: they must not fall. */
const RESPONSE_MS = 2_000;

export interface WorkerPool extends RunningIngest {
  /** Counters of each worker, as last reported. */
  threadMetrics(): Promise<MetricsSnapshot[]>;
}

/**
 * Runs the ingest role in several threads, each a member of the consumer group with a share of the
 * partitions. A worker that cannot continue ends all of them: a supervisor restarts the process.
 *
 * @param profile file for CPU profiles: worker n writes `FILE.n`.
 * @throws the error of the first worker that does not start to read, OperatorError among others.
 */
export async function startWorkers(
  config: Config,
  profile: string | undefined,
): Promise<WorkerPool> {
  const { workers } = config.ingest;
  const threads = Array.from(
    { length: workers },
    (_, n) => new WorkerThread(config, n + 1, profile),
  );
  const failed = Promise.race(threads.map((thread) => thread.failed));
  failed.catch((error: unknown) => {
    const code = error instanceof OperatorError ? error.code : undefined;
    if (code !== 'TAILMARK_CLICKHOUSE_UNSUPPORTED') return;
    // The others must not store their rest: it may go to the wrong server.
    for (const thread of threads) void thread.terminate();
  });
  try {
    await Promise.race([Promise.all(threads.map((thread) => thread.reading)), failed]);
  } catch (error) {
    await Promise.all(threads.map((thread) => thread.terminate()));
    throw error;
  }
  return {
    done: failed,
    problems: () => threads.flatMap((thread) => thread.problems()),
    notes: () => threads.flatMap((thread) => thread.notes()),
    threadMetrics: () => Promise.all(threads.map((thread) => thread.metrics())),
    stop: async () => {
      await Promise.all(threads.map((thread) => thread.stop()));
    },
  };
}

class WorkerThread {
  /** Resolves when it is a member of the group. */
  readonly reading: Promise<void>;
  readonly #failure = new Failure();
  readonly #stopped: Promise<void>;
  readonly #worker: Worker;
  readonly #number: number;
  readonly #pending = new Map<number, () => void>();
  #requests = 0;
  #problems: readonly string[] = [];
  #notes: readonly string[] = [];
  #metrics: MetricsSnapshot = [];
  #lastMessageMs = systemClock.elapsedMs();
  #hasStopped = false;

  constructor(config: Config, number: number, profile: string | undefined) {
    this.#number = number;
    const workerData: WorkerData = {
      config,
      worker: number,
      profile: profile === undefined ? undefined : `${profile}.${number}`,
    };
    this.#worker = new Worker(new URL('./ingest-worker.js', import.meta.url), { workerData });
    this.reading = new Promise((resolve) => {
      this.#worker.on('message', ({ type }: WorkerMessage) => {
        if (type === 'reading') resolve();
      });
    });
    this.#stopped = new Promise((resolve) => this.#worker.on('exit', () => resolve()));
    this.#worker.on('message', (message: WorkerMessage) => this.#receive(message));
    this.#worker.on('error', this.#failure.reject);
    this.#worker.on('exit', () => {
      if (!this.#hasStopped) {
        this.#failure.reject(new Error(`worker ${number} exited unexpectedly`));
      }
    });
  }

  /** Rejects when it cannot continue. */
  get failed(): Promise<never> {
    return this.#failure.promise;
  }

  problems(): string[] {
    const silentMs = systemClock.elapsedMs() - this.#lastMessageMs;
    const problems = this.#problems.map((problem) => `worker ${this.#number}: ${problem}`);
    if (silentMs <= SILENT_MS) return problems;
    return [`worker ${this.#number}: no message for ${Math.round(silentMs / 1000)} s`, ...problems];
  }

  notes(): string[] {
    return this.#notes.map((note) => `worker ${this.#number}: ${note}`);
  }

  async metrics(): Promise<MetricsSnapshot> {
    const id = this.#requests++;
    const response = new Promise<void>((resolve) => this.#pending.set(id, resolve));
    this.#ask({ ask: 'metrics', id });
    await Promise.race([response, systemClock.sleep(RESPONSE_MS)]);
    this.#pending.delete(id);
    return this.#metrics;
  }

  /** Resolves when everything it has read is stored, or it has exited. */
  async stop(): Promise<void> {
    this.#ask({ ask: 'stop' });
    await this.#stopped;
  }

  async terminate(): Promise<void> {
    this.#hasStopped = true;
    await this.#worker.terminate();
  }

  #receive(message: WorkerMessage): void {
    this.#lastMessageMs = systemClock.elapsedMs();
    if (message.type === 'problems') {
      this.#problems = message.problems;
      this.#notes = message.notes;
    } else if (message.type === 'metrics') {
      this.#metrics = message.metrics;
      this.#pending.get(message.id)?.();
    } else if (message.type === 'failed') this.#failure.reject(unpackFailure(message.failure));
    else if (message.type === 'stopped') this.#hasStopped = true;
  }

  #ask(request: WorkerRequest): void {
    this.#worker.postMessage(request);
  }
}
