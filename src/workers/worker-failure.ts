import { OperatorError } from '../base/operator-error.ts';
import type { WorkerFailure } from './worker-messages.ts';

/** Serializes an error for another thread. */
export function packFailure(error: unknown): WorkerFailure {
  if (error instanceof OperatorError) {
    const { code, message, hint, exitCode, stack } = error;
    return { code, message, hint, exitCode, stack };
  }
  const isError = error instanceof Error;
  const stack = isError ? error.stack : undefined;
  const message = isError ? error.message : String(error);
  return { code: undefined, message, hint: undefined, exitCode: undefined, stack };
}

/** Restores the error, with code, hint and exit code. */
export function unpackFailure(failure: WorkerFailure): Error {
  const { code, message, hint, exitCode, stack } = failure;
  const error =
    code === undefined ? new Error(message) : new OperatorError(code, message, { hint, exitCode });
  if (stack !== undefined) error.stack = stack;
  return error;
}
