import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../cache-dir.ts';
import { freePorts } from '../local-ports.ts';
import type { OnLocalProgress } from '../local-progress.ts';
import type { ChildHandle } from '../process/child-handle.ts';
import { openLog } from '../process/open-log.ts';
import { startTiedProcess } from '../process/tied-process.ts';
import { describeExit, startFailure } from '../start-failure.ts';
import { waitUntil } from '../wait-until.ts';
import { clusterId } from './cluster-id.ts';
import { findJava } from './java-runtime.ts';
import { ensureKafkaJars } from './kafka-jars.ts';
import { kafkaPing } from './kafka-ping.ts';
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
  let looking: ReturnType<typeof findJava> | undefined;
  const java = () => (looking ??= findJava(env));
  const jars = await ensureKafkaJars({ env, java, onProgress, signal });
  const { path: javaPath } = await java();
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
      await format(run, ['format', '-t', id, '-c', paths.properties], paths.log, signal);
    }
    onProgress({ part: 'kafka', state: 'starting', text: 'starting the broker' });
    const child = await run('kafka.Kafka', [paths.properties]);
    onSpawn?.(child.pid);
    await untilKafkaAnswers(child, () => kafkaPing(port), paths.log, signal);
    return { ...child, brokers: [`127.0.0.1:${port}`] };
  } finally {
    closeSync(logFd);
  }
}

interface KafkaPaths {
  readonly data: string;
  readonly tmp: string;
  readonly properties: string;
  readonly log: string;
}

function prepareDirectory(dataDir: string, port: number, controllerPort: number): KafkaPaths {
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

type Run = (main: string, args: readonly string[]) => Promise<ChildHandle>;

async function format(
  run: Run,
  args: readonly string[],
  logPath: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const child = await run('kafka.tools.StorageTool', args);
  const exit = await child.exited;
  signal?.throwIfAborted();
  if (exit.code !== 0) {
    throw startFailure('Kafka', `could not format its storage and ${describeExit(exit)}`, [
      logPath,
    ]);
  }
}

/**
 * Waits until the broker responds. After the broker's exit, responses on its port come from another process
 * and do not count.
 *
 * @throws OperatorError TAILMARK_LOCAL_START_FAILED with the last lines of the log, after stopping the
 *   broker.
 */
export async function untilKafkaAnswers(
  child: ChildHandle,
  answers: () => Promise<boolean>,
  logPath: string,
  signal?: AbortSignal,
): Promise<void> {
  let ended: string | null = null;
  void child.exited.then((exit) => {
    ended = describeExit(exit);
  });
  try {
    const ready = await waitUntil(answers, {
      deadlineMs: startDeadlineMs,
      intervalMs: 50,
      stopped: () => ended !== null,
      signal,
    });
    if (ready && ended === null) return;
  } catch (error) {
    await child.stop();
    throw error;
  }
  const happened = ended ?? `did not respond within ${startDeadlineMs / 1000} s`;
  await child.stop();
  throw startFailure('Kafka', happened, [logPath]);
}
