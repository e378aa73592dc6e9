import type { ExitCode } from '../base/exit-codes.ts';
import type { ErrorCode } from '../base/operator-error.ts';
import type { MetricsSnapshot } from '../base/telemetry/metrics.ts';
import type { Config } from '../config/schema.ts';

export interface WorkerData {
  readonly config: Config;
  /** 1, 2, 3 …, for its log. */
  readonly worker: number;
  /** File for its CPU profile. */
  readonly profile: string | undefined;
}

export type WorkerRequest = { readonly ask: 'metrics'; readonly id: number } | { ask: 'stop' };

export type WorkerMessage =
  | { readonly type: 'reading' }
  /** Sent once a second: a worker without messages is stuck. */
  | { readonly type: 'problems'; readonly problems: readonly string[] }
  | { readonly type: 'metrics'; readonly id: number; readonly metrics: MetricsSnapshot }
  | { readonly type: 'failed'; readonly failure: WorkerFailure }
  /** Everything it has read is stored. */
  | { readonly type: 'stopped' };

/** An error between threads; without a code it is no OperatorError. */
export interface WorkerFailure {
  readonly code: ErrorCode | undefined;
  readonly message: string;
  readonly hint: string | undefined;
  readonly exitCode: ExitCode | undefined;
  readonly stack: string | undefined;
}
