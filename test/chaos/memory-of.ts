import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export interface Memory {
  /** Resident now. */
  readonly bytes: number;
  /** Peak of resident memory; the present one where the system does not report it. */
  readonly peakBytes: number;
}

/** Resident memory of a process, by /proc where there is one, else by ps(1). */
export function memoryOf(pid: number): Memory {
  return process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
}

function fromProc(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  const kibibytes = (key: string) =>
    Number(new RegExp(`^${key}:\\s*(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0);
  return { bytes: kibibytes('VmRSS') * 1024, peakBytes: kibibytes('VmHWM') * 1024 };
}

function fromPs(pid: number): Memory {
  const text = execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
  const bytes = Number(text.trim()) * 1024;
  return { bytes, peakBytes: bytes };
}
