import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { OperatorError } from '../../base/operator-error.ts';
import type { Environment } from '../cache-dir.ts';

export interface JavaRuntime {
  readonly path: string;
  /** Feature release: 17, 21, … */
  readonly version: number;
}

const leastVersion = 17;

/** Remedy for a missing Java or Maven. The local Kafka needs both; later starts need only Java. */
export const javaRemedy =
  `Install a JDK ${leastVersion} or later and Maven (both on PATH, or JAVA_HOME and MAVEN_HOME ` +
  'set).';
const javaHint =
  `${javaRemedy} Without them: \`docker compose up\` runs Kafka and ClickHouse in Docker, and ` +
  '`--source file` reads events from a file or standard input.';

/** Finds Java by JAVA_HOME, else on PATH. @throws TAILMARK_LOCAL_JAVA_MISSING, also if it is too old. */
export async function findJava(env: Environment): Promise<JavaRuntime> {
  const path = findProgram('java', env.JAVA_HOME, env);
  if (path === null) {
    throw missing(`Cannot start Kafka: Java ${leastVersion} or later must be installed; it is not`);
  }
  const text = await versionText(path, env);
  const version = parseJavaVersion(text);
  if (version !== null && version >= leastVersion) return { path, version };
  const [firstLine] = text.trim().split('\n');
  const is = version ?? `unusable (${firstLine || 'no output of -version'})`;
  throw missing(`Cannot start Kafka: ${path} must be Java ${leastVersion} or later; it is ${is}`);
}

/** Finds Maven by MAVEN_HOME, else on PATH. @throws TAILMARK_LOCAL_JAVA_MISSING. */
export function findMaven(env: Environment): string {
  const path = findProgram('mvn', env.MAVEN_HOME, env);
  if (path === null) {
    throw missing('Cannot fetch Kafka: Maven (mvn) must be installed; it is not');
  }
  return path;
}

/** Parses the feature release from the output of `java -version`: 8 for "1.8.0", null without a version. */
export function parseJavaVersion(text: string): number | null {
  const match = /version "(?:1\.)?(\d+)/.exec(text);
  return match?.[1] === undefined ? null : Number(match[1]);
}

function missing(message: string): OperatorError {
  return new OperatorError('TAILMARK_LOCAL_JAVA_MISSING', message, { hint: javaHint });
}

function findProgram(name: string, home: string | undefined, env: Environment): string | null {
  const directories = (env.PATH ?? '').split(delimiter).filter((directory) => directory !== '');
  if (home !== undefined && home !== '') directories.unshift(join(home, 'bin'));
  return directories.map((directory) => join(directory, name)).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

async function versionText(path: string, env: Environment): Promise<string> {
  try {
    const { stdout, stderr } = await promisify(execFile)(path, ['-version'], {
      env: { ...env },
      timeout: 20_000,
    });
    return stderr + stdout;
  } catch (error) {
    return String((error as { stderr?: unknown }).stderr ?? '');
  }
}
