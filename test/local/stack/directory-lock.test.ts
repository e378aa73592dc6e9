// Covers src/local/process/process-identity.ts.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { processIdentity } from '../../../src/local/process/process-identity.ts';
import { lockDirectory } from '../../../src/local/stack/directory-lock.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tailmark-lock-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5);
const writeLock = (value: unknown) =>
  writeFileSync(join(dir, 'lock.json'), typeof value === 'string' ? value : JSON.stringify(value));
const holder = (pid: number, identity: string | null) => ({
  pid,
  identity: identity ?? '',
  token: 'other',
  since: '2026-01-01T00:00:00.000Z',
});

describe('lockDirectory', () => {
  it('refuses a second holder by code, pid, directory and time, and leaves no draft', () => {
    const lock = lockDirectory(dir, nowMs);
    expect(() => lockDirectory(dir, nowMs)).toThrow(
      expect.objectContaining({
        code: 'TAILMARK_LOCAL_IN_USE',
        exitCode: 69,
        message:
          `Cannot start the local stack: its directory must not be in use; ${dir} is held by ` +
          `process ${process.pid} since 2026-01-02T03:04:05.000Z`,
      }),
    );
    expect(readdirSync(dir)).toEqual(['lock.json']);
    lock.release();
  });

  it('is free again after release, which is harmless twice', () => {
    const first = lockDirectory(dir, nowMs);
    first.release();
    const second = lockDirectory(dir, nowMs);
    first.release();
    expect(() => lockDirectory(dir, nowMs)).toThrow(/must not be in use/);
    second.release();
    expect(readdirSync(dir)).toEqual([]);
  });

  it('takes over from a process that was killed', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    const pid = child.pid as number;
    writeLock(holder(pid, processIdentity(pid)));
    expect(() => lockDirectory(dir, nowMs)).toThrow(`process ${pid}`);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const lock = lockDirectory(dir, nowMs);
    expect(JSON.parse(readFileSync(join(dir, 'lock.json'), 'utf8')).pid).toBe(process.pid);
    expect(readdirSync(dir)).toEqual(['lock.json']);
    lock.release();
  });

  it('takes over when the number belongs to a later process by now', () => {
    writeLock(holder(process.pid, 'started at another time'));
    lockDirectory(dir, nowMs).release();
    expect(readdirSync(dir)).toEqual([]);
  });

  it.each(['', '{', 'null', '[]', '{"pid":"1"}'])('takes over from a damaged lock: %j', (text) => {
    writeLock(text);
    lockDirectory(dir, nowMs).release();
    expect(readdirSync(dir)).toEqual([]);
  });
});

describe('processIdentity', () => {
  it('is stable, differs between processes, and is null for none', async () => {
    const own = processIdentity(process.pid);
    expect(own).toEqual(expect.any(String));
    expect(processIdentity(process.pid)).toBe(own);
    expect(processIdentity(0)).toBeNull();
    expect(processIdentity(-1)).toBeNull();
    expect(processIdentity(Number.NaN)).toBeNull();
    const child = spawn(process.execPath, ['-e', '0']);
    await once(child, 'exit');
    expect(processIdentity(child.pid as number)).toBeNull();
  });
});
