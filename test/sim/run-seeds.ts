import { Worker } from 'node:worker_threads';
import type { SeedReport } from './seed-report.ts';

/** Message to a worker thread. It responds with a `SeedReport`, and before that with trace lines. */
export interface SeedOrder {
  readonly seed: number;
  readonly isTraced: boolean;
}

export interface SeedsRun {
  readonly from: number;
  /** The last seed. */
  readonly to: number;
  /** Concurrent threads. */
  readonly jobs: number;
  /** Script of the threads; it sends `ready`, then accepts one `SeedOrder` at a time. */
  readonly worker: URL;
  /**
   * A thread that is on one seed for longer is ended, and the seed has failed. Time in which this
   * process is stopped does not count.
   */
  readonly limitMs: number;
  /** Ends the run early. */
  readonly signal?: AbortSignal;
  /** Called with each seed as it ends. */
  readonly onReport: (report: SeedReport) => void;
  /** Requests the trace of every seed, and receives its lines. */
  readonly onTrace?: (line: string) => void;
}

/** A limit expires after so many ticks: none does while the process is stopped, or the machine sleeps. */
const LIMIT_TICKS = 20;
/** Heap limit of a thread: a run that leaks must not exhaust the machine. */
const MOST_HEAP_MIB = 1_024;

/**
 * Runs every seed of a range over some worker threads. Every seed gets a report: a thread that throws, ends,
 * fills its heap or hangs is replaced.
 *
 * @throws the error of a thread that cannot start
 */
export async function runSeeds(run: SeedsRun): Promise<void> {
  let next = run.from;
  const lane = async () => {
    let worker: SeedThread | undefined;
    try {
      while (next <= run.to && run.signal?.aborted !== true) {
        const seed = next++;
        worker ??= await SeedThread.start(run.worker);
        const report = await worker.simulate(seed, run);
        if (worker.isGone) worker = undefined;
        if (report !== undefined) run.onReport(report);
      }
    } finally {
      await worker?.end();
    }
  };
  const lanes = Math.min(run.jobs, run.to - run.from + 1);
  await Promise.all(Array.from({ length: lanes }, lane));
}

type WorkerMessage = SeedReport | string | { readonly end: string };

/** A worker thread. */
class SeedThread {
  readonly #worker: Worker;
  /** Handles the thread's messages, or its end. */
  #receive: (message: WorkerMessage) => void = () => undefined;
  isGone = false;

  private constructor(script: URL) {
    const worker = new Worker(script, {
      resourceLimits: { maxOldGenerationSizeMb: MOST_HEAP_MIB },
    });
    worker.on('message', (message: SeedReport | string) => this.#receive(message));
    worker.on('error', (error) => this.#receive({ end: `the run threw: ${messageOf(error)}` }));
    worker.on('exit', (code) => this.#receive({ end: `the run ended its thread with ${code}` }));
    this.#worker = worker;
  }

  static async start(script: URL): Promise<SeedThread> {
    const thread = new SeedThread(script);
    await new Promise<void>((resolve, reject) => {
      thread.#receive = (message) =>
        typeof message === 'object' && 'end' in message
          ? reject(new Error(message.end))
          : resolve();
    });
    return thread;
  }

  /** Resolves with the seed's report; undefined where the run was ended early. */
  async simulate(seed: number, run: SeedsRun): Promise<SeedReport | undefined> {
    const { limitMs, signal, onTrace } = run;
    let tidy = () => {};
    const outcome = await new Promise<SeedReport | { readonly end: string } | undefined>(
      (resolve) => {
        this.#receive = (message) => {
          if (typeof message === 'string') onTrace?.(message);
          else resolve(message);
        };
        const end = `the run makes no headway: no end after ${limitMs / 1000} s`;
        let ticks = 0;
        const limit = setInterval(() => {
          if (++ticks === LIMIT_TICKS) resolve({ end });
        }, limitMs / LIMIT_TICKS);
        const onAbort = () => resolve(undefined);
        signal?.addEventListener('abort', onAbort);
        tidy = () => {
          clearInterval(limit);
          signal?.removeEventListener('abort', onAbort);
        };
        this.#worker.postMessage({ seed, isTraced: onTrace !== undefined } satisfies SeedOrder);
      },
    );
    tidy();
    if (outcome !== undefined && 'seed' in outcome) return outcome;
    await this.end();
    return outcome && failed(seed, outcome.end);
  }

  /** Ends it also in an endless loop. */
  async end(): Promise<void> {
    this.isGone = true;
    this.#receive = () => undefined;
    await this.#worker.terminate();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** The report of a run that did not finish. */
function failed(seed: number, problem: string): SeedReport {
  return {
    seed,
    problems: [problem],
    eventCount: 0,
    recordCount: 0,
    virtualMs: 0,
    faults: new Map(),
    fingerprint: 0,
  };
}
