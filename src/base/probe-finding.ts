import type { OperatorError } from './operator-error.ts';

/** One thing that a probe of a server has looked at, for `check --connect` and `doctor`. */
export interface ProbeFinding {
  readonly ok: boolean;
  /** It does its work, and yet an operator should look at it. */
  readonly isWarning?: boolean;
  /** What was looked at, as a noun: `topic inference.timings.v1`. */
  readonly what: string;
  /** What was found: `6 partitions`, `connection refused`. */
  readonly detail: string;
  /** What to do about it, as a sentence. */
  readonly hint?: string;
  /** The error a command would have met here; its exit code becomes the command's. */
  readonly error?: OperatorError;
}

/** What a probe says of an error it met. */
export function failedProbe(what: string, error: OperatorError): ProbeFinding {
  const { message: detail, hint } = error;
  return { ok: false, what, detail, error, ...(hint === undefined ? {} : { hint }) };
}
