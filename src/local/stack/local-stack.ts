import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import type { Environment } from '../cache-dir.ts';
import type { LocalClickHouseUser } from '../clickhouse/clickhouse-config.ts';
import { type ClickHouseServer, startClickHouse } from '../clickhouse/clickhouse-server.ts';
import { startKafka } from '../kafka/kafka-broker.ts';
import { choosePorts } from '../local-ports.ts';
import type { OnLocalProgress } from '../local-progress.ts';
import { pathError } from '../path-error.ts';
import { LeftoverChildren } from '../process/leftover-children.ts';
import { type DirectoryLock, lockDirectory } from './directory-lock.ts';
import { type LocalStackExit, ServerGroup } from './server-group.ts';

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

/** ClickHouse in a data directory, and the servers that were started with it. */
export interface LocalClickHouse {
  readonly dir: string;
  readonly clickhouse: {
    readonly url: string;
    readonly database: string;
    readonly tcpPort: number;
    readonly pid: number;
  };
  /** Resolves when the first server exits, also after `stop`. */
  readonly exited: Promise<LocalStackExit>;
  /** Stops every server and releases the directory. May be called again. */
  stop(): Promise<void>;
}

export interface LocalStack extends LocalClickHouse {
  readonly kafka: { readonly brokers: string[]; readonly pid: number };
}

/**
 * Starts a real Kafka and a real ClickHouse on the loopback, without Docker. Both end with this process,
 * however it ends.
 *
 * @throws OperatorError TAILMARK_LOCAL_IN_USE, TAILMARK_PORT_TAKEN, TAILMARK_PATH_UNWRITABLE,
 *   TAILMARK_LOCAL_JAVA_MISSING, TAILMARK_LOCAL_ENGINE_MISSING or TAILMARK_LOCAL_START_FAILED, after stopping
 *   both.
 */
export function startLocalStack(options: LocalStackOptions): Promise<LocalStack> {
  return inDirectory(options, async (directory) => {
    const { dir, ports } = directory;
    const kafka = directory.servers.add('kafka', (signal) =>
      startKafka({
        ...directory.shared,
        dataDir: join(dir, 'kafka'),
        port: ports.kafka,
        controllerPort: ports.kafkaController,
        env: options.env,
        signal,
      }),
    );
    const clickhouse = addClickHouse(directory, options);
    const running = await allRunning(directory);
    const { brokers, pid } = await kafka;
    return { ...running, kafka: { brokers, pid }, clickhouse: addressOf(await clickhouse) };
  });
}

/** Starts ClickHouse alone, which needs no Java. @throws OperatorError as `startLocalStack` */
export function startLocalClickHouse(options: LocalStackOptions): Promise<LocalClickHouse> {
  return inDirectory(options, async (directory) => {
    const clickhouse = addClickHouse(directory, options);
    const running = await allRunning(directory);
    return { ...running, clickhouse: addressOf(await clickhouse) };
  });
}

/** A data directory that this process holds, and the servers in it. */
interface HeldDirectory {
  readonly dir: string;
  readonly lock: DirectoryLock;
  readonly children: LeftoverChildren;
  readonly ports: LocalPorts;
  readonly servers: ServerGroup;
  /** Options of every server. */
  readonly shared: {
    readonly onProgress: OnLocalProgress;
    readonly onSpawn: (pid: number) => void;
  };
}

/** Holds the directory for the servers that `start` starts; releases it where that fails. */
async function inDirectory<T>(
  options: LocalStackOptions,
  start: (directory: HeldDirectory) => Promise<T>,
): Promise<T> {
  const { signal, onProgress = () => {} } = options;
  signal?.throwIfAborted();
  const { dir, lock } = takeDirectory(resolve(options.dir ?? localDefaultDir));
  const children = new LeftoverChildren(dir);
  try {
    await children.awaitEarlier(signal);
    if (options.fresh) wipe(dir);
    const ports = await portsFor(dir, options);
    const servers = new ServerGroup(onProgress, signal);
    const shared = { onProgress, onSpawn: (pid: number) => children.add(pid) };
    return await start({ dir, lock, children, ports, servers, shared });
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

function addClickHouse(
  { dir, ports, servers, shared }: HeldDirectory,
  { users }: LocalStackOptions,
): Promise<ClickHouseServer> {
  return servers.add('clickhouse', (signal) =>
    startClickHouse({
      ...shared,
      dataDir: join(dir, 'clickhouse'),
      httpPort: ports.clickhouseHttp,
      tcpPort: ports.clickhouseTcp,
      database: localDatabase,
      users,
      signal,
    }),
  );
}

function addressOf({ url, tcpPort, pid }: ClickHouseServer): LocalClickHouse['clickhouse'] {
  return { url, database: localDatabase, tcpPort, pid };
}

async function allRunning({ dir, lock, children, servers }: HeldDirectory) {
  await servers.started().catch((error) => {
    children.forget();
    throw error;
  });
  let stopping: Promise<void> | undefined;
  const stop = async () => {
    await servers.stop();
    children.forget();
    lock.release();
  };
  return { dir, exited: servers.exited(), stop: () => (stopping ??= stop()) };
}
