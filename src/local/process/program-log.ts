import { closeSync, fstatSync, openSync, readSync, renameSync } from 'node:fs';

const tailBytes = 16 * 1024;

/** Opens an empty log for a program; keeps the previous one as `.1`. */
export function openLog(path: string): number {
  try {
    renameSync(path, `${path}.1`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return openSync(path, 'a');
}

/** Returns the last non-blank lines of a log, from its last 16 KiB; empty without a file. */
export function logTail(path: string, lineCount = 12): string[] {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return [];
  }
  try {
    const sizeBytes = fstatSync(fd).size;
    const buffer = Buffer.alloc(Math.min(sizeBytes, tailBytes));
    const readBytes = readSync(fd, buffer, 0, buffer.length, sizeBytes - buffer.length);
    const lines = buffer.toString('utf8', 0, readBytes).split('\n');
    if (sizeBytes > tailBytes) lines.shift();
    return lines.filter((line) => line.trim() !== '').slice(-lineCount);
  } finally {
    closeSync(fd);
  }
}
