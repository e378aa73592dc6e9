import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { systemClock } from '../base/clock.ts';
import type { Environment } from './cache-dir.ts';
import type { LocalClickHouseUser } from './clickhouse/clickhouse-config.ts';
import { startClickHouse } from './clickhouse/clickhouse-server.ts';
import { type DirectoryLock, lockDirectory } from './directory-lock.ts';
import { startKafka } from './kafka/kafka-broker.ts';
import { choosePorts } from './local-ports.ts';
import type { OnLocalProgress } from './local-progress.ts';
import { pathError } from './path-error.ts';
import { LeftoverChildren } from './process/leftover-children.ts';
import type { ChildExit } from './process/tied-process.ts';

const localDatabase = 'tailmark';
const portsFile = 'ports.json';
/** Default data directory, relative to the current directory. */
export const localDefaultDir = '.tailmark';

export interface LocalStackOptions {
  /** @default {'.tailmark'} */
  readonly dir?: string | undefined;
  /** Starts with empty data: removes what an earlier start has left in `dir`. */
  readonly fresh?: boolean | undefined;
  /** Defaults: the ports of the last start if free, else any. */
  readonly kafkaPort?: number | undefined;
  readonly clickhouseHttpPort?: number | undefined;
  readonly clickhouseTcpPort?: number | undefined;
  readonly users?: readonly LocalClickHouseUser[] | undefined;
  readonly onProgress?: OnLocalProgress | undefined;
  /** Aborts the start: it rejects with the signal's reason after stopping both servers. */
  readonly signal?: AbortSignal | undefined;
  /** @default {process.env} */
  readonly env?: Environment | undefined;
}

export interface LocalStackExit extends ChildExit {
  readonly part: 'kafka' | 'clickhouse';
}

export interface LocalStack {
  readonly dir: string;
  readonly kafka: { readonly brokers: string[]; readonly pid: number };
  readonly clickhouse: {
    readonly url: string;
    readonly database: string;
    readonly tcpPort: number;
    readonly pid: number;
  };
  /** Resolves when the first of the two exits, also after `stop`. */
  readonly exited: Promise<LocalStackExit>;
  /** Stops both and releases the directory. May be called again. */
  stop(): Promise<void>;
}

/**
 * Starts a real Kafka and a real ClickHouse on the loopback, without Docker. Both end with this process,
 * however it ends.
 *
 * @throws OperatorError TAILMARK_LOCAL_IN_USE, TAILMARK_PORT_TAKEN, TAILMARK_PATH_UNWRITABLE,
 *   TAILMARK_LOCAL_JAVA_MISSING, TAILMARK_LOCAL_ENGINE_MISSING or TAILMARK_LOCAL_START_FAILED, after stopping
 *   both.
 */
export async function startLocalStack(options: LocalStackOptions): Promise<LocalStack> {
  const { signal } = options;
  signal?.throwIfAborted();
  const { dir, lock } = takeDirectory(resolve(options.dir ?? localDefaultDir));
  const children = new LeftoverChildren(dir);
  try {
    await children.awaitEarlier(signal);
    if (options.fresh) wipe(dir);
    const ports = await portsFor(dir, options);
    return await startBoth(dir, ports, options, children, lock);
  } catch (error) {
    lock.release();
    throw pathError(error, dir, dirHint);
  }
}

const dirHint = 'Choose another directory with --dir.';

function takeDirectory(path: string): { dir: string; lock: DirectoryLock } {
  try {
    mkdirSync(path, { recursive: true });
    const dir = realpathSync(path);
    return { dir, lock: lockDirectory(dir, systemClock.nowMs()) };
  } catch (error) {
    throw pathError(error, path, dirHint);
  }
}

/** Removes the local stack's own data only; the directory may contain other files. */
function wipe(dir: string): void {
  for (const name of ['kafka', 'clickhouse', portsFile]) {
    rmSync(join(dir, name), { recursive: true, force: true });
  }
}

interface LocalPorts {
  readonly kafka: number;
  readonly kafkaController: number;
  readonly clickhouseHttp: number;
  readonly clickhouseTcp: number;
}

/** Chooses the ports, and saves them so that a restart uses the same endpoints if they are free. */
async function portsFor(dir: string, options: LocalStackOptions): Promise<LocalPorts> {
  const path = join(dir, portsFile);
  const last = lastPorts(path);
  const { kafkaPort, clickhouseHttpPort, clickhouseTcpPort } = options;
  const [kafka = 0, clickhouseHttp = 0, clickhouseTcp = 0, kafkaController = 0] = await choosePorts(
    [
      { given: kafkaPort, last: last.kafka, flag: '--kafka-port' },
      { given: clickhouseHttpPort, last: last.clickhouseHttp, flag: '--clickhouse-port' },
      { given: clickhouseTcpPort, last: last.clickhouseTcp, flag: '--clickhouse-tcp-port' },
      { last: last.kafkaController, flag: '' },
    ],
  );
  const ports = { kafka, kafkaController, clickhouseHttp, clickhouseTcp };
  writeFileSync(path, `${JSON.stringify(ports)}\n`);
  return ports;
}

/** Reads the ports of the last start; leaves invalid ones out. */
function lastPorts(path: string): Partial<LocalPorts> {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (value === null || typeof value !== 'object') return {};
    const entries = Object.entries(value).filter(
      ([, port]) => Number.isInteger(port) && port > 0 && port < 65_536,
    );
    return Object.fromEntries(entries);
  } catch {
    return {};
  }
}

async function startBoth(
  dir: string,
  ports: LocalPorts,
  options: LocalStackOptions,
  children: LeftoverChildren,
  lock: DirectoryLock,
): Promise<LocalStack> {
  const { onProgress = () => {}, users, env = process.env } = options;
  const failed = new AbortController();
  const signal =
    options.signal === undefined ? failed.signal : AbortSignal.any([options.signal, failed.signal]);
  const onSpawn = (pid: number) => children.add(pid);
  const reported = async <Server>(part: 'kafka' | 'clickhouse', starting: Promise<Server>) => {
    try {
      const server = await starting;
      onProgress({ part, state: 'ready', text: 'ready' });
      return server;
    } catch (error) {
      failed.abort(error);
      throw error;
    }
  };
  const startingKafka = startKafka({
    dataDir: join(dir, 'kafka'),
    port: ports.kafka,
    controllerPort: ports.kafkaController,
    onProgress,
    env,
    signal,
    onSpawn,
  });
  const startingClickHouse = startClickHouse({
    dataDir: join(dir, 'clickhouse'),
    httpPort: ports.clickhouseHttp,
    tcpPort: ports.clickhouseTcp,
    database: localDatabase,
    users,
    onProgress,
    signal,
    onSpawn,
  });
  const [kafka, clickhouse] = await Promise.allSettled([
    reported('kafka', startingKafka),
    reported('clickhouse', startingClickHouse),
  ]);
  if (kafka.status === 'rejected' || clickhouse.status === 'rejected') {
    // The server that did start is still running.
    if (kafka.status === 'fulfilled') await kafka.value.stop();
    if (clickhouse.status === 'fulfilled') await clickhouse.value.stop();
    children.forget();
    throw signal.reason;
  }
  const parts = { kafka: kafka.value, clickhouse: clickhouse.value };
  let stopping: Promise<void> | undefined;
  const stop = async () => {
    await Promise.all([parts.kafka.stop(), parts.clickhouse.stop()]);
    children.forget();
    lock.release();
  };
  return {
    dir,
    kafka: { brokers: parts.kafka.brokers, pid: parts.kafka.pid },
    clickhouse: {
      url: parts.clickhouse.url,
      database: localDatabase,
      tcpPort: parts.clickhouse.tcpPort,
      pid: parts.clickhouse.pid,
    },
    exited: Promise.race([
      parts.kafka.exited.then((exit) => ({ part: 'kafka' as const, ...exit })),
      parts.clickhouse.exited.then((exit) => ({ part: 'clickhouse' as const, ...exit })),
    ]),
    stop: () => (stopping ??= stop()),
  };
}
