import { OperatorError } from '../base/operator-error.ts';
import type { ChildExit } from './process/child-handle.ts';
import { logTail } from './process/log-tail.ts';

/** Describes an exit: "ended with code 1". */
export function describeExit(exit: ChildExit): string {
  return exit.signal === null ? `ended with code ${exit.code}` : `was ended by ${exit.signal}`;
}

/** Error for a program of the local stack that did not start, with the last lines of its logs. */
export function startFailure(
  name: string,
  happened: string,
  logPaths: readonly string[],
): OperatorError {
  const lines = logPaths.flatMap((path) => logTail(path)).map((line) => `\n  ${line}`);
  return new OperatorError(
    'TAILMARK_LOCAL_START_FAILED',
    `Cannot start ${name}: it ${happened}${lines.join('')}`,
    {
      hint: `Its logs: ${logPaths.join(', ')}. \`tailmark up --fresh\` starts with empty data.`,
    },
  );
}
