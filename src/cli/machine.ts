import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { Io } from './io.ts';

type Environment = Io['env'];

/** Longest wait for Docker or a server's clock, milliseconds. */
const deadlineMs = 5_000;

/** This machine, as `doctor` examines it; a parameter, so that tests can inject any machine. */
export const thisMachine = {
  nodeVersion: process.version,
  nowMs: () => Date.now(),
  /** Returns the feature release of Java. @throws {OperatorError} without one, or with one too old */
  javaVersion: async (env: Environment) =>
    (await (await import('../local/kafka/java-runtime.ts')).findJava(env)).version,
  /** Returns the path of mvn. @throws {OperatorError} without one */
  mavenPath: async (env: Environment) =>
    (await import('../local/kafka/java-runtime.ts')).findMaven(env),
  /** Returns the version of the Docker server. @throws {Error} without a response */
  dockerVersion: async (env: Environment) => {
    const args = ['version', '--format', '{{.Server.Version}}'];
    const { stdout } = await promisify(execFile)('docker', args, { env, timeout: deadlineMs });
    if (stdout.trim() === '') throw new Error('no answer');
    return stdout.trim();
  },
  /** Returns the path of the ClickHouse engine for the local stack. @throws {OperatorError} without one */
  enginePath: async () =>
    (await import('../local/clickhouse/clickhouse-engine.ts')).findClickHouseEngine(),
  cacheDir: async (env: Environment) => (await import('../local/cache-dir.ts')).cacheDir(env),
  /** Returns the free bytes of a present or future directory. @throws {Error} if it is not writable */
  freeBytes: async (dir: string) => {
    let there = dir;
    while (!existsSync(there) && dirname(there) !== there) there = dirname(there);
    accessSync(there, constants.W_OK);
    const { bavail, bsize } = await statfs(there);
    return bavail * bsize;
  },
  /** Returns the clock of an HTTP server, milliseconds since the epoch; undefined without a Date header. */
  serverMs: async (url: string, signal: AbortSignal) => {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]);
    const response = await fetch(new URL('/ping', url), { signal: deadline });
    await response.arrayBuffer();
    const date = Date.parse(response.headers.get('date') ?? '');
    return Number.isNaN(date) ? undefined : date;
  },
};

export type Machine = Readonly<typeof thisMachine>;
