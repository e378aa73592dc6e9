import { writeFile } from 'node:fs/promises';
import { type Profiler, Session } from 'node:inspector';
import { exitCodes } from '../exit-codes.ts';
import { OperatorError } from '../operator-error.ts';

/** Sampling interval: sampling costs some 1 % of the time. */
const SAMPLE_MICROS = 1_000;

/**
 * Starts a CPU profile of this thread. The returned function writes it to a file in V8's format
 * (`.cpuprofile`), which Chrome's DevTools and speedscope draw as a flame graph.
 *
 * @throws OperatorError TAILMARK_PATH_UNWRITABLE, before anything is measured.
 */
export async function startCpuProfile(path: string): Promise<() => Promise<void>> {
  await write(path, '');
  const session = new Session();
  session.connect();
  const post = <T>(method: string, params: object = {}) =>
    new Promise<T>((resolve, reject) => {
      session.post(method, params, (error, result) =>
        error === null ? resolve(result as T) : reject(error),
      );
    });
  await post('Profiler.enable');
  await post('Profiler.setSamplingInterval', { interval: SAMPLE_MICROS });
  await post('Profiler.start');
  return async () => {
    const { profile } = await post<Profiler.StopReturnType>('Profiler.stop');
    session.disconnect();
    await write(path, JSON.stringify(profile));
  };
}

async function write(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text);
  } catch (error) {
    const { message } = error as Error;
    throw new OperatorError(
      'TAILMARK_PATH_UNWRITABLE',
      `Cannot write a profile as --profile must be a file that can be written: it is ${path} (${message})`,
      {
        hint: 'Name a file in a directory that is there and is yours.',
        exitCode: exitCodes.usage,
        cause: error,
      },
    );
  }
}
