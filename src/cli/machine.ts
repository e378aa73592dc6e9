import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { Io } from './io.ts';

type Environment = Io['env'];

/** Machine that `doctor` examines; a parameter, so that tests can inject any machine. */
export interface Machine {
  readonly nodeVersion: string;
  nowMs(): number;
  /** Returns the feature release of Java. @throws {OperatorError} without one, or with one too old */
  javaVersion(env: Environment): Promise<number>;
  /** Returns the path of mvn. @throws {OperatorError} without one */
  mavenPath(env: Environment): Promise<string>;
  /** Returns the version of the Docker server. @throws {Error} without a response */
  dockerVersion(env: Environment): Promise<string>;
  /** Returns the path of the ClickHouse engine for the local stack. @throws {OperatorError} without one */
  enginePath(): Promise<string>;
  cacheDir(env: Environment): Promise<string>;
  /** Returns the free bytes of a present or future directory. @throws {Error} if it is not writable */
  freeBytes(dir: string): Promise<number>;
  /** Returns the clock of an HTTP server, milliseconds since the epoch; undefined without a Date header. */
  serverMs(url: string, signal: AbortSignal): Promise<number | undefined>;
}

/** Longest wait for Docker or a server's clock, milliseconds. */
const deadlineMs = 5_000;

/** This machine. */
export const thisMachine: Machine = {
  nodeVersion: process.version,
  nowMs: () => Date.now(),
  javaVersion: async (env) =>
    (await (await import('../local/kafka/java-runtime.ts')).findJava(env)).version,
  mavenPath: async (env) => (await import('../local/kafka/java-runtime.ts')).findMaven(env),
  dockerVersion: async (env) => {
    const args = ['version', '--format', '{{.Server.Version}}'];
    const { stdout } = await promisify(execFile)('docker', args, { env, timeout: deadlineMs });
    if (stdout.trim() === '') throw new Error('no answer');
    return stdout.trim();
  },
  enginePath: async () =>
    (await import('../local/clickhouse/clickhouse-engine.ts')).findClickHouseEngine(),
  cacheDir: async (env) => (await import('../local/cache-dir.ts')).cacheDir(env),
  freeBytes: async (dir) => {
    let there = dir;
    while (!existsSync(there) && dirname(there) !== there) there = dirname(there);
    accessSync(there, constants.W_OK);
    const { bavail, bsize } = await statfs(there);
    return bavail * bsize;
  },
  serverMs: async (url, signal) => {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]);
    const response = await fetch(new URL('/ping', url), { signal: deadline });
    await response.arrayBuffer();
    const date = Date.parse(response.headers.get('date') ?? '');
    return Number.isNaN(date) ? undefined : date;
  },
};
