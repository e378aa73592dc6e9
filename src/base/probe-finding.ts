import type { OperatorError } from './operator-error.ts';

/** Finding of a probe of a server, for `check --connect` and `doctor`. */
export interface ProbeFinding {
  readonly ok: boolean;
  /** The server works, but an operator should look at it. */
  readonly isWarning?: boolean;
  /** Subject, as a noun: `topic inference.timings.v1`. */
  readonly what: string;
  /** Result: `6 partitions`, `connection refused`. */
  readonly detail: string;
  /** Remedy, as a sentence. */
  readonly hint?: string | undefined;
  /** Error that a command would meet; its exit code becomes the command's. */
  readonly error?: OperatorError;
}

export function failedProbe(what: string, error: OperatorError): ProbeFinding {
  return { ok: false, what, detail: error.message, hint: error.hint, error };
}
