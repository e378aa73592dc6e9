import { openSync, renameSync, statSync } from 'node:fs';

const keptBytes = 2 * 1024 * 1024;

/** Opens a program's log to append; one over 2 MiB is first put aside as `.1`. */
export function openLog(path: string): number {
  const sizeBytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (sizeBytes > keptBytes) renameSync(path, `${path}.1`);
  return openSync(path, 'a');
}
