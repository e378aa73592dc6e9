import { openSync, renameSync } from 'node:fs';

/** Opens a program's log, empty; the one of the start before is kept as `.1`. */
export function openLog(path: string): number {
  try {
    renameSync(path, `${path}.1`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return openSync(path, 'a');
}
