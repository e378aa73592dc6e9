import { OperatorError } from '../../base/operator-error.ts';
import { waitUntil } from '../wait-until.ts';
import { logTail } from './program-log.ts';
import type { ChildExit, ChildHandle } from './tied-process.ts';

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
    { hint: `Its logs: ${logPaths.join(', ')}. \`tailmark up --fresh\` starts with empty data.` },
  );
}

export interface StartOptions {
  readonly serves: () => Promise<boolean>;
  readonly deadlineMs: number;
  readonly logPaths: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

/**
 * Waits until a program of the local stack serves. After its exit, responses on its port come from another
 * process and do not count.
 *
 * @throws OperatorError TAILMARK_LOCAL_START_FAILED with the last lines of its logs, after stopping it.
 */
export async function untilServing(
  name: string,
  child: ChildHandle,
  { serves, deadlineMs, logPaths, signal }: StartOptions,
): Promise<void> {
  let ended: string | null = null;
  void child.exited.then((exit) => {
    ended = describeExit(exit);
  });
  const wait = { deadlineMs, intervalMs: 50, stopped: () => ended !== null, signal };
  try {
    if ((await waitUntil(serves, wait)) && ended === null) return;
    throw startFailure(name, ended ?? `did not respond within ${deadlineMs / 1000} s`, logPaths);
  } catch (error) {
    await child.stop();
    throw error;
  }
}
