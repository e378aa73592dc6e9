import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Returns the start time of a process, and on Linux its boot: a later process with the same pid differs. Null
 * when it does not run (a zombie does not). Costs two small reads on Linux, a call of ps(1) elsewhere.
 */
export function processIdentity(pid: number): string | null {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null;
  return process.platform === 'linux' ? linuxIdentity(pid) : psIdentity(pid);
}

function linuxIdentity(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field, the name, is in parentheses and may contain parentheses itself.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state] = fields;
    if (state === 'Z' || state === 'X') return null;
    const startTicks = fields[19];
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    return `${boot}/${startTicks}`;
  } catch {
    return null;
  }
}

function psIdentity(pid: number): string | null {
  try {
    const env = { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' };
    const text = execFileSync('ps', ['-o', 'state=,lstart=', '-p', String(pid)], {
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
    if (text === '' || text.startsWith('Z')) return null;
    return text.replace(/^\S+\s+/, '');
  } catch {
    return null;
  }
}
