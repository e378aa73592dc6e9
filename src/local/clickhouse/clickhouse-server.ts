import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { minuteMs } from '../../base/time.ts';
import { freePorts } from '../local-ports.ts';
import type { OnLocalProgress } from '../local-progress.ts';
import { openLog } from '../process/program-log.ts';
import { untilServing } from '../process/start-failure.ts';
import { type ChildHandle, exitOf, handleOf } from '../process/tied-process.ts';
import {
  clickHouseServerConfig,
  clickHouseUsersConfig,
  type LocalClickHouseUser,
} from './clickhouse-config.ts';
import { findClickHouseEngine } from './clickhouse-engine.ts';

export interface ClickHouseOptions {
  /** Created if absent. Databases and logs in it survive a restart. */
  readonly dataDir: string;
  /** @default a free port */
  readonly httpPort?: number | undefined;
  /** @default a free port */
  readonly tcpPort?: number | undefined;
  /** Created if absent. */
  readonly database: string;
  /** Besides `default`, which needs no password. @default {[]} */
  readonly users?: readonly LocalClickHouseUser[] | undefined;
  readonly onProgress: OnLocalProgress;
  readonly signal?: AbortSignal | undefined;
  /** Called with the process id once the process exists. */
  readonly onSpawn?: ((pid: number) => void) | undefined;
}

export interface ClickHouseServer extends ChildHandle {
  readonly url: string;
  readonly tcpPort: number;
}

const script = fileURLToPath(new URL('../../../bin/child/clickhouse.js', import.meta.url));
const startDeadlineMs = minuteMs;
const graceMs = 5_000;
const queryTimeoutMs = 10_000;

/**
 * Starts ClickHouse from the npm package chdb. Resolves when it responds and has the database: in under a
 * second once the engine (566 MB) is in the page cache.
 *
 * @throws OperatorError TAILMARK_LOCAL_ENGINE_MISSING or TAILMARK_LOCAL_START_FAILED, after stopping the
 *   server.
 */
export async function startClickHouse(options: ClickHouseOptions): Promise<ClickHouseServer> {
  const { dataDir, database, users = [], onProgress, signal, onSpawn } = options;
  const engine = findClickHouseEngine();
  onProgress({ part: 'clickhouse', state: 'starting', text: 'starting the server' });
  const [httpPort = 0, tcpPort = 0] = await freePorts([options.httpPort, options.tcpPort]);
  const paths = prepareDirectory(dataDir, users);
  const child = spawnServer(engine, dataDir, paths, httpPort, tcpPort);
  onSpawn?.(child.pid);
  await untilServing('ClickHouse', child, {
    serves: () => serves(httpPort, paths.data),
    deadlineMs: startDeadlineMs,
    logPaths: [paths.stderr, paths.log],
    signal,
  });
  const name = database.replaceAll('\\', '\\\\').replaceAll('`', '\\`');
  try {
    await queryClickHouse(httpPort, `CREATE DATABASE IF NOT EXISTS \`${name}\``);
  } catch (error) {
    await child.stop();
    throw error;
  }
  return { ...child, url: `http://127.0.0.1:${httpPort}`, tcpPort };
}

function prepareDirectory(dataDir: string, users: readonly LocalClickHouseUser[]) {
  const paths = {
    data: join(dataDir, 'data'),
    config: join(dataDir, 'config.xml'),
    log: join(dataDir, 'clickhouse.log'),
    stderr: join(dataDir, 'stderr.log'),
  };
  const usersPath = join(dataDir, 'users.xml');
  mkdirSync(paths.data, { recursive: true });
  // The file contains passwords.
  writeFileSync(usersPath, clickHouseUsersConfig(users), { mode: 0o600 });
  writeFileSync(paths.config, clickHouseServerConfig(paths.log, usersPath));
  return paths;
}

function spawnServer(
  engine: string,
  dataDir: string,
  paths: ReturnType<typeof prepareDirectory>,
  httpPort: number,
  tcpPort: number,
): ChildHandle {
  const logFd = openLog(paths.stderr);
  const query =
    'SYSTEM START LISTEN HTTP; SYSTEM START LISTEN TCP; ' +
    "SELECT * FROM file('stdin', 'LineAsString') FORMAT Null";
  const args = [
    `--path=${paths.data}`,
    '--listen_host=127.0.0.1',
    `--http_port=${httpPort}`,
    `--tcp_port=${tcpPort}`,
    `--config-file=${paths.config}`,
    '--log-level=warning',
    '--query',
    query,
  ];
  const child = spawn(process.execPath, [script, String(graceMs), engine, ...args], {
    cwd: dataDir,
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['pipe', logFd, logFd],
  });
  closeSync(logFd);
  // Running queries may delay the exit without limit.
  return handleOf(child, child.pid ?? 0, exitOf(child), graceMs);
}

/** Checks that the server on this port is ours, by its data directory. */
async function serves(httpPort: number, dataPath: string): Promise<boolean> {
  try {
    const sql = "SELECT value FROM system.server_settings WHERE name = 'path' FORMAT TSVRaw";
    return (await queryClickHouse(httpPort, sql)).trim() === dataPath;
  } catch {
    return false;
  }
}

/** Runs one statement over HTTP as the default user. Rejects with the server's response. */
export async function queryClickHouse(port: number, sql: string): Promise<string> {
  const options = { host: '127.0.0.1', port, method: 'POST', agent: false };
  const call = request({ ...options, timeout: queryTimeoutMs });
  call.on('timeout', () => call.destroy(new Error('ClickHouse did not respond')));
  call.on('error', () => {}); // `once` and `text` report it.
  call.end(sql);
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  const body = await text(response);
  if (response.statusCode === 200) return body;
  throw new Error(`ClickHouse responded with ${response.statusCode}: ${body.trim()}`);
}
