import type { ErrorCode } from '../base/operator-error.ts';
import type { MetricsSnapshot } from '../base/telemetry/metrics.ts';
import type { Config } from '../config/schema.ts';

/** What a worker thread is given. */
export interface WorkerData {
  readonly config: Config;
  /** 1, 2, 3 …, for its log. */
  readonly worker: number;
  /** A file for where its CPU time went. */
  readonly profile: string | undefined;
}

/** What it is asked. */
export type WorkerRequest = { readonly ask: 'metrics'; readonly id: number } | { ask: 'stop' };

/** What it says. */
export type WorkerMessage =
  | { readonly type: 'reading' }
  /** Once a second: a worker that is silent does not work. */
  | { readonly type: 'problems'; readonly problems: readonly string[] }
  | { readonly type: 'metrics'; readonly id: number; readonly metrics: MetricsSnapshot }
  | { readonly type: 'failed'; readonly failure: WorkerFailure }
  /** Everything it has read is stored. */
  | { readonly type: 'stopped' };

/** An error on its way between threads; of another class than OperatorError if it has no code. */
export interface WorkerFailure {
  readonly code: ErrorCode | undefined;
  readonly message: string;
  readonly hint: string | undefined;
  readonly exitCode: number | undefined;
  readonly stack: string | undefined;
}
