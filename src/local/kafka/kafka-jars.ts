import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../../base/operator-error.ts';
import { hourMs } from '../../base/time.ts';
import { cacheDir, type Environment } from '../cache-dir.ts';
import type { OnLocalProgress } from '../local-progress.ts';
import { pathError } from '../path-error.ts';
import { logTail } from '../process/program-log.ts';
import { startTiedProcess } from '../process/tied-process.ts';
import { findJava, findMaven, type JavaRuntime } from './java-runtime.ts';
import { MavenProgress } from './maven-progress.ts';

export const kafkaVersion = '4.3.0';
const slf4jVersion = '1.7.36'; // The version that Kafka compiles against; its "simple" binding logs to stderr.
const markerName = 'complete.json';
const abandonedMs = hourMs;

export interface KafkaJarsOptions {
  readonly env: Environment;
  readonly onProgress: OnLocalProgress;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Returns the directory of the broker's jars (46 files, 45 MB). Maven downloads them if the cache is
 * incomplete. The directory gets its name only when complete, so that two downloads at once both end with a
 * whole one.
 */
export async function ensureKafkaJars(options: KafkaJarsOptions): Promise<string> {
  const cache = cacheDir(options.env);
  const dir = kafkaJarsDir(options.env);
  if (isComplete(dir)) return dir;
  const maven = findMaven(options.env);
  const scratch = `${dir}.${process.pid}-${randomBytes(4).toString('hex')}`;
  try {
    mkdirSync(scratch, { recursive: true });
    removeAbandoned(cache);
    writeFileSync(join(scratch, 'pom.xml'), pom());
  } catch (error) {
    throw pathError(error, cache, 'Name another cache directory in TAILMARK_CACHE_DIR.');
  }
  try {
    await fetchJars(maven, scratch, options);
    writeMarker(scratch);
    publish(scratch, dir);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return dir;
}

/**
 * Finds the programs that start Kafka: Java, and Maven unless the jars are in the cache. Fetches nothing.
 *
 * @throws OperatorError TAILMARK_LOCAL_JAVA_MISSING.
 */
export async function findKafkaPrograms(env: Environment): Promise<JavaRuntime> {
  // Maven needs Java too, and reports its absence less clearly.
  const java = await findJava(env);
  if (!isComplete(kafkaJarsDir(env))) findMaven(env);
  return java;
}

function kafkaJarsDir(env: Environment): string {
  return join(cacheDir(env), `kafka-${kafkaVersion}`);
}

/** Checks that every file in the marker exists with its size. */
export function isComplete(dir: string): boolean {
  try {
    const marker: unknown = JSON.parse(readFileSync(join(dir, markerName), 'utf8'));
    const { files } = marker as { files: Record<string, number> };
    const entries = Object.entries(files);
    return (
      entries.length > 0 &&
      entries.every(([name, sizeBytes]) => statSync(join(dir, name)).size === sizeBytes)
    );
  } catch {
    return false;
  }
}

function writeMarker(dir: string): void {
  const files: Record<string, number> = {};
  for (const name of readdirSync(dir).sort()) {
    if (name.endsWith('.jar')) files[name] = statSync(join(dir, name)).size;
  }
  writeFileSync(join(dir, markerName), `${JSON.stringify({ files }, null, 2)}\n`);
}

/** Renames a complete directory to its final name, unless another process was first. */
function publish(scratch: string, dir: string): void {
  for (;;) {
    try {
      renameSync(scratch, dir);
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
    }
    if (isComplete(dir)) return;
    // The existing directory is damaged. It is moved aside first, because removing takes time.
    const aside = `${scratch}.damaged`;
    try {
      renameSync(dir, aside);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    rmSync(aside, { recursive: true, force: true });
  }
}

async function fetchJars(maven: string, scratch: string, options: KafkaJarsOptions): Promise<void> {
  const { env, onProgress, signal } = options;
  const report = (text: string) => onProgress({ part: 'kafka', state: 'fetching', text });
  const title = `fetching Kafka ${kafkaVersion} (45 MB, once)`;
  report(title);
  const progress = new MavenProgress();
  const logPath = join(scratch, 'maven.log');
  const logFd = openSync(logPath, 'a');
  let output = '';
  const child = await startTiedProcess({
    command: maven,
    args: ['-B', 'dependency:copy-dependencies', `-DoutputDirectory=${scratch}`],
    cwd: scratch,
    env,
    logFd,
    graceMs: 1_000,
    onOutput: (text) => {
      output = (output + text).slice(-16_384);
      const state = progress.add(text);
      if (state !== null) report(`${title}: ${state}`);
    },
  });
  const abort = () => void child.stop();
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  const { code } = await child.exited;
  signal?.removeEventListener('abort', abort);
  closeSync(logFd);
  signal?.throwIfAborted();
  if (code === 0 && existsSync(join(scratch, `kafka_2.13-${kafkaVersion}.jar`))) return;
  const lines = output.split('\n').filter((line) => line.includes('ERROR'));
  const shown = [...lines.slice(0, 4), ...logTail(logPath, 4)].map((line) => `\n  ${line}`);
  throw new OperatorError(
    'TAILMARK_LOCAL_START_FAILED',
    `Cannot fetch Kafka ${kafkaVersion}: Maven must succeed; it ended with ${code}${shown.join('')}`,
    {
      hint:
        'Maven needs its repository: check the network, the proxy and mirrors in ~/.m2/settings.xml, ' +
        'then start again. `docker compose up` works without Maven.',
    },
  );
}

/** Removes partial downloads of killed processes. */
function removeAbandoned(cache: string): void {
  for (const name of readdirSync(cache)) {
    if (!name.startsWith(`kafka-${kafkaVersion}.`)) continue;
    const path = join(cache, name);
    const ageMs = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (ageMs > abandonedMs) rmSync(path, { recursive: true, force: true });
  }
}

function pom(): string {
  const dependency = (group: string, artifact: string, version: string) =>
    `    <dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId>` +
    `<version>${version}</version></dependency>`;
  return [
    '<project xmlns="http://maven.apache.org/POM/4.0.0">',
    '  <modelVersion>4.0.0</modelVersion>',
    '  <groupId>io.tailmark</groupId><artifactId>local-kafka</artifactId><version>1</version>',
    '  <packaging>pom</packaging>',
    '  <dependencies>',
    dependency('org.apache.kafka', 'kafka_2.13', kafkaVersion),
    dependency('org.slf4j', 'slf4j-simple', slf4jVersion),
    '  </dependencies>',
    '</project>',
    '',
  ].join('\n');
}
