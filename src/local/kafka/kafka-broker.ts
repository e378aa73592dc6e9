import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Environment } from '../cache-dir.ts';
import { freePorts } from '../local-ports.ts';
import type { OnLocalProgress } from '../local-progress.ts';
import { openLog } from '../process/program-log.ts';
import { describeExit, startFailure, untilServing } from '../process/start-failure.ts';
import { type ChildHandle, startTiedProcess } from '../process/tied-process.ts';
import { ensureKafkaJars, findKafkaPrograms } from './kafka-jars.ts';
import { kafkaProperties } from './kafka-properties.ts';

export interface KafkaOptions {
  /** Created if absent. Topics, offsets and logs in it survive a restart. */
  readonly dataDir: string;
  /** @default a free port */
  readonly port?: number | undefined;
  /** @default a free port */
  readonly controllerPort?: number | undefined;
  readonly onProgress: OnLocalProgress;
  /** @default {process.env} */
  readonly env?: Environment | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with the process id once the process exists. */
  readonly onSpawn?: ((pid: number) => void) | undefined;
}

export interface KafkaBroker extends ChildHandle {
  readonly brokers: string[];
}

const startDeadlineMs = 90_000;
const pingTimeoutMs = 2_000;
/** ApiVersions v0 with correlation id 7 and no client id. Brokers respond to it before a login. */
const pingRequest = Buffer.from('0000000a0012000000000007ffff', 'hex');
const graceMs = 5_000;
/** The log has warnings and errors only, so its last lines explain an exit. */
export const jvmArgs = [
  '-Xms64m',
  '-Xmx512m',
  '-XX:+UseG1GC',
  '-XX:MaxGCPauseMillis=50',
  '-XX:+ExitOnOutOfMemoryError',
  '-Djava.awt.headless=true',
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
  '-Dorg.slf4j.simpleLogger.showDateTime=true',
  '-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss.SSS',
];

/**
 * Starts Apache Kafka, broker and controller in one JVM, and resolves when it responds. This takes about 3 s,
 * or 4 s with new data, plus the download the first time.
 *
 * @throws OperatorError TAILMARK_LOCAL_JAVA_MISSING or TAILMARK_LOCAL_START_FAILED, after stopping the
 *   broker.
 */
export async function startKafka(options: KafkaOptions): Promise<KafkaBroker> {
  const { dataDir, onProgress, env = process.env, signal, onSpawn } = options;
  const { path: javaPath } = await findKafkaPrograms(env);
  const jars = await ensureKafkaJars({ env, onProgress, signal });
  signal?.throwIfAborted();
  const [port = 0, controllerPort = 0] = await freePorts([options.port, options.controllerPort]);
  const paths = prepareDirectory(dataDir, port, controllerPort);
  const logFd = openLog(paths.log);
  const run = (main: string, args: readonly string[]) =>
    startTiedProcess({
      command: javaPath,
      args: [...jvmArgs, `-Djava.io.tmpdir=${paths.tmp}`, '-cp', join(jars, '*'), main, ...args],
      cwd: dataDir,
      env,
      logFd,
      graceMs,
    });
  try {
    if (!existsSync(join(paths.data, 'meta.properties'))) {
      onProgress({ part: 'kafka', state: 'starting', text: 'formatting its storage' });
      const id = clusterId(randomBytes(16));
      const args = ['format', '-t', id, '-c', paths.properties];
      const exit = await (await run('kafka.tools.StorageTool', args)).exited;
      signal?.throwIfAborted();
      if (exit.code !== 0) {
        const happened = `could not format its storage and ${describeExit(exit)}`;
        throw startFailure('Kafka', happened, [paths.log]);
      }
    }
    onProgress({ part: 'kafka', state: 'starting', text: 'starting the broker' });
    const child = await run('kafka.Kafka', [paths.properties]);
    onSpawn?.(child.pid);
    await untilServing('Kafka', child, {
      serves: () => kafkaPing(port),
      deadlineMs: startDeadlineMs,
      logPaths: [paths.log],
      signal,
    });
    return { ...child, brokers: [`127.0.0.1:${port}`] };
  } finally {
    closeSync(logFd);
  }
}

function prepareDirectory(dataDir: string, port: number, controllerPort: number) {
  const paths = {
    data: join(dataDir, 'data'),
    // Native codecs are unpacked here. In /tmp they would stay after a kill -9.
    tmp: join(dataDir, 'tmp'),
    properties: join(dataDir, 'server.properties'),
    log: join(dataDir, 'kafka.log'),
  };
  rmSync(paths.tmp, { recursive: true, force: true });
  mkdirSync(paths.tmp, { recursive: true });
  writeFileSync(paths.properties, kafkaProperties({ dataDir: paths.data, port, controllerPort }));
  return paths;
}

/**
 * Makes the id of a new Kafka cluster: 16 bytes in base64url, as Kafka writes UUIDs. The first bit is
 * cleared, because the format tool would read a leading dash as an option.
 */
export function clusterId(random: Uint8Array): string {
  const bytes = Buffer.from(random);
  bytes[0] = (bytes[0] ?? 0) & 0x7f;
  return bytes.toString('base64url');
}

/** Checks that a Kafka broker responds on this loopback port. Never rejects. */
export function kafkaPing(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    let received = Buffer.alloc(0);
    const finish = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(pingTimeoutMs, () => finish(false));
    socket.on('connect', () => socket.write(pingRequest));
    socket.on('data', (part: Buffer) => {
      received = Buffer.concat([received, part]);
      // Length, correlation id, error code: 0 is "none".
      if (received.length >= 10) {
        finish(received.readInt32BE(4) === 7 && received.readInt16BE(8) === 0);
      }
    });
    socket.on('error', () => finish(false));
    socket.on('close', () => finish(false));
  });
}
