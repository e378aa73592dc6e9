import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const tailBytes = 16 * 1024;

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
