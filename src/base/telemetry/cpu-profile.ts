import { writeFile } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
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
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_MICROS });
  await session.post('Profiler.start');
  return async () => {
    const { profile } = await session.post('Profiler.stop');
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
      { hint: 'Name a file in a directory that is there and is yours.', cause: error },
    );
  }
}
