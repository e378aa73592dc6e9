import { closeSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { findJava } from '../../../src/local/kafka/java-runtime.ts';
import { jvmArgs } from '../../../src/local/kafka/kafka-broker.ts';
import { ensureKafkaJars } from '../../../src/local/kafka/kafka-jars.ts';
import { openLog } from '../../../src/local/process/program-log.ts';
import { type ChildHandle, startTiedProcess } from '../../../src/local/process/tied-process.ts';

const graceMs = 10_000;

/** Runs programs of Kafka, with one log. */
export interface JavaRunner {
  readonly log: string;
  start(main: string, args: readonly string[]): Promise<ChildHandle>;
  close(): void;
}

/** @param dir of the program's log and its temporary files. */
export async function javaRunner(dir: string): Promise<JavaRunner> {
  const { env } = process;
  const { path: command } = await findJava(env);
  const jars = await ensureKafkaJars({ env, onProgress: () => undefined });
  const tmp = join(dir, 'tmp');
  mkdirSync(tmp);
  const log = join(dir, 'kafka.log');
  const logFd = openLog(log);
  const jvm = [...jvmArgs, '-Xmx384m', `-Djava.io.tmpdir=${tmp}`, '-cp', join(jars, '*')];
  return {
    log,
    start: (main, args) =>
      startTiedProcess({
        command,
        args: [...jvm, main, ...args],
        cwd: dir,
        env,
        logFd,
        graceMs,
      }),
    close: () => closeSync(logFd),
  };
}
