import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../../base/operator-error.ts';
import { processIdentity } from '../process/process-identity.ts';

export interface DirectoryLock {
  /** Releases the directory. May be called again. */
  release(): void;
}

interface Holder {
  readonly pid: number;
  /** Distinguishes the holder from a later process with the same pid (processIdentity). */
  readonly identity: string;
  readonly token: string;
  readonly since: string;
}

const lockName = 'lock.json';
const attempts = 20;

/**
 * Locks a directory for this process. A stale lock is taken over: one whose process is gone, or whose pid
 * belongs to another process.
 *
 * @throws OperatorError TAILMARK_LOCAL_IN_USE while another process, or this one, holds it.
 */
export function lockDirectory(dir: string, nowMs: number): DirectoryLock {
  const path = join(dir, lockName);
  const own: Holder = {
    pid: process.pid,
    identity: processIdentity(process.pid) ?? '',
    token: randomBytes(8).toString('hex'),
    since: new Date(nowMs).toISOString(),
  };
  const draft = join(dir, `${lockName}.${own.token}`);
  writeFileSync(draft, `${JSON.stringify(own)}\n`);
  try {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      // A link appears with its content or not at all, and never replaces a file.
      if (tryLink(draft, path)) return { release: () => release(path, own.token) };
      const holder = readHolder(path);
      if (holder !== null && processIdentity(holder.pid) === holder.identity) {
        throw inUse(dir, holder);
      }
      removeStale(path, `${draft}.stale`, holder);
    }
  } finally {
    unlinkSync(draft);
  }
  throw new OperatorError(
    'TAILMARK_LOCAL_IN_USE',
    `Cannot start the local stack: its directory must not be in use; other processes also lock ${dir}`,
    { hint: 'Choose another directory with --dir.' },
  );
}

/** Moves a stale lock aside and removes it. A live lock that has replaced it is moved back. */
function removeStale(path: string, aside: string, seen: Holder | null): void {
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const moved = readHolder(aside);
  if (moved !== null && moved.token !== seen?.token) tryLink(aside, path);
  unlinkSync(aside);
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function release(path: string, token: string): void {
  if (readHolder(path)?.token !== token) return;
  try {
    unlinkSync(path);
  } catch {
    // The directory was removed together with the lock.
  }
}

function readHolder(path: string): Holder | null {
  try {
    const value = JSON.parse(readFileSync(path, 'utf8')) as Partial<Holder> | null;
    const { pid, identity, token, since } = value ?? {};
    if (typeof pid !== 'number' || typeof identity !== 'string') return null;
    if (typeof token !== 'string' || typeof since !== 'string') return null;
    return { pid, identity, token, since };
  } catch {
    return null;
  }
}

function inUse(dir: string, holder: Holder): OperatorError {
  return new OperatorError(
    'TAILMARK_LOCAL_IN_USE',
    `Cannot start the local stack: its directory must not be in use; ${dir} is held by process ` +
      `${holder.pid} since ${holder.since}`,
    { hint: `Use that one, stop it (kill ${holder.pid}), or choose another directory with --dir.` },
  );
}
