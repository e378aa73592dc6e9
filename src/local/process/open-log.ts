import { openSync, renameSync } from 'node:fs';

/** Opens an empty log for a program; keeps the previous one as `.1`. */
export function openLog(path: string): number {
  try {
    renameSync(path, `${path}.1`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return openSync(path, 'a');
}
