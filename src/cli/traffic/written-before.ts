import { exitCodes } from '../../base/exit-codes.ts';
import { OperatorError } from '../../base/operator-error.ts';

/** Says a number of events. */
export function eventsOf(count: number): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? 'event' : 'events'}`;
}

/**
 * The error that ends a conversion, with what was written until then: a second run writes that again.
 * An output that cannot be written has its own error: nobody knows what of it arrived.
 *
 * @param to name of the target; undefined where none was opened yet.
 */
export function withWritten(
  error: unknown,
  count: number,
  to: { readonly name: string; readonly isTopic: boolean } | undefined,
): unknown {
  if (!(error instanceof OperatorError) || error.code === 'TAILMARK_PATH_UNWRITABLE') return error;
  const { code, message, hint, exitCode, cause } = error;
  if (count === 0 || to === undefined) {
    if (exitCode !== exitCodes.failed) return error;
    return new OperatorError(code, `${message}; no event was written`, { hint, exitCode, cause });
  }
  const written = `${eventsOf(count)} ${count === 1 ? 'was' : 'were'} written to ${to.name} before`;
  const again = to.isTopic ? 'They stay in the topic: a second run sends them again.' : undefined;
  return new OperatorError(code, `${message}; ${written}`, {
    hint: [hint, again].filter((each) => each !== undefined).join(' '),
    exitCode,
    cause,
  });
}
