import { OperatorError } from '../base/operator-error.ts';
import type { MetricsSnapshot } from '../base/telemetry/metrics.ts';
import type { Config } from '../config/schema.ts';

export interface WorkerData {
  readonly config: Config;
  /** 1, 2, 3 …, for its log. */
  readonly worker: number;
  readonly profile: string | undefined;
}

export type WorkerRequest = { readonly ask: 'metrics'; readonly id: number } | { ask: 'stop' };

export type WorkerMessage =
  | { readonly type: 'reading' }
  /** Sent once a second: a worker without messages is stuck. */
  | {
      readonly type: 'problems';
      readonly problems: readonly string[];
      readonly notes: readonly string[];
    }
  | { readonly type: 'metrics'; readonly id: number; readonly metrics: MetricsSnapshot }
  | { readonly type: 'failed'; readonly failure: WorkerFailure }
  /** Everything it has read is stored. */
  | { readonly type: 'stopped' };

export interface WorkerFailure {
  readonly message: string;
  readonly stack?: string | undefined;
  /** The rest of an OperatorError; undefined for other errors. */
  readonly operator: Pick<OperatorError, 'code' | 'hint' | 'exitCode'> | undefined;
}

/** Serializes an error for another thread. */
export function packFailure(error: unknown): WorkerFailure {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  if (!(error instanceof OperatorError)) return { message, stack, operator: undefined };
  const { code, hint, exitCode } = error;
  return { message, stack, operator: { code, hint, exitCode } };
}

/** Restores the error, with code, hint and exit code. */
export function unpackFailure({ message, stack, operator }: WorkerFailure): Error {
  const error =
    operator === undefined
      ? new Error(message)
      : new OperatorError(operator.code, message, operator);
  if (stack !== undefined) error.stack = stack;
  return error;
}
