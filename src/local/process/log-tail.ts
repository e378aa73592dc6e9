import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const tailBytes = 16 * 1024;

/** The last lines of a log, without blank ones; empty if there is no such file. Reads 16 KiB. */
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
