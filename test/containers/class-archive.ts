import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startKafka } from '../../src/local/kafka/kafka-broker.ts';

/**
 * Loaded classes of a broker, which Java maps instead of loading them again: a start takes half of its CPU
 * time. Absent until it is made; Java does without it then. It fits only the same Java and jars, so each run
 * makes its own.
 */
const classArchive = join(tmpdir(), `tailmark-test-${process.pid}.jsa`);

const endDeadlineMs = 60_000;

// Brokers of tests live for seconds: the slower compiler costs more than it gains.
const quickStart = '-XX:TieredStopAtLevel=1';

/** Options of Java for the brokers of tests. */
export const javaOptions = [
  quickStart,
  `-XX:SharedArchiveFile=${classArchive}`,
  // Other programs of Java than brokers cannot use the archive. That is no warning.
  '-Xlog:cds=off',
  '-Xlog:cds+dynamic=off',
].join(' ');

/** Makes the archive at the end of a broker (some 5 s of CPU time). Costs nothing but speed if it fails. */
export async function makeClassArchive(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tailmark-test-'));
  // A partial archive crashes Java, so the archive gets its name when the broker has ended in good order.
  const partial = join(dataDir, 'partial.jsa');
  try {
    const env = {
      ...process.env,
      JAVA_TOOL_OPTIONS: `${quickStart} -XX:ArchiveClassesAtExit=${partial} -Xlog:cds=off`,
    };
    const broker = await startKafka({ dataDir, env, onProgress: () => {} });
    process.kill(broker.pid, 'SIGTERM');
    const timer = setTimeout(() => void broker.stop(), endDeadlineMs);
    const { signal } = await broker.exited;
    clearTimeout(timer);
    if (signal === null && existsSync(partial)) renameSync(partial, classArchive);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

export function removeClassArchive(): void {
  rmSync(classArchive, { force: true });
}
