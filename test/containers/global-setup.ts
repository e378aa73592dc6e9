import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { OperatorError } from '../../src/base/operator-error.ts';
import { startLocalStack } from '../../src/local/stack/local-stack.ts';
import { makeClassArchive, removeClassArchive } from './class-archive.ts';

/** Endpoints of the Kafka and ClickHouse that every integration test of a run shares. */
export interface StackEndpoints {
  readonly kind: 'docker' | 'local';
  readonly brokers: string[];
  /** The default user needs no password here. */
  readonly clickhouseUrl: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    stack: StackEndpoints | null;
    /** Why there is none. */
    stackMissing: string;
  }
}

interface StartedStack {
  readonly endpoints: StackEndpoints;
  stop(): Promise<void>;
}

const dockerAnswerMs = 5_000;

/** Starts Kafka and ClickHouse once: in Docker if an engine answers, else the local stack. */
export default async function setup(
  project: TestProject,
): Promise<(() => Promise<void>) | undefined> {
  const kind = (await dockerAnswers()) ? 'docker' : 'local';
  const startMs = performance.now();
  say(`starting Kafka and ClickHouse: ${kind}`);
  try {
    const stack = kind === 'docker' ? await startContainers() : await startLocal();
    const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
    say(`started Kafka and ClickHouse: ${kind}, ${seconds} s`);
    project.provide('stack', stack.endpoints);
    project.provide('stackMissing', '');
    return () => stack.stop();
  } catch (error) {
    // Only what a machine may rightly lack skips the tests; anything else is a failure of them.
    if (!(error instanceof OperatorError) || !lacking.has(error.code)) throw error;
    const why = `${error.message} (${error.hint ?? error.code})`;
    say(`no Kafka and ClickHouse, tests that need them are skipped: ${why}`);
    project.provide('stack', null);
    project.provide('stackMissing', why);
    return undefined;
  }
}

const lacking = new Set(['TAILMARK_LOCAL_JAVA_MISSING', 'TAILMARK_LOCAL_ENGINE_MISSING']);

async function dockerAnswers(): Promise<boolean> {
  try {
    const args = ['info', '--format', '{{.ServerVersion}}'];
    const { stdout } = await promisify(execFile)('docker', args, { timeout: dockerAnswerMs });
    return stdout.trim() !== '';
  } catch {
    return false;
  }
}

async function startLocal(): Promise<StartedStack> {
  const dir = mkdtempSync(join(tmpdir(), 'tailmark-test-'));
  const remove = () => rmSync(dir, { recursive: true, force: true });
  try {
    const [stack] = await Promise.all([startLocalStack({ dir }), archiveClasses()]);
    return {
      endpoints: {
        kind: 'local',
        brokers: stack.kafka.brokers,
        clickhouseUrl: stack.clickhouse.url,
      },
      stop: async () => {
        await stack.stop();
        removeClassArchive();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Brokers start faster with the archive, and start without it too. */
async function archiveClasses(): Promise<void> {
  try {
    await makeClassArchive();
  } catch (error) {
    say(`Java's classes are not archived: ${(error as Error).message}`);
  }
}

async function startContainers(): Promise<StartedStack> {
  const [{ KafkaContainer }, { GenericContainer, Wait }] = await Promise.all([
    import('@testcontainers/kafka'),
    import('testcontainers'),
  ]);
  const kafkaStarting = new KafkaContainer('confluentinc/cp-kafka:7.9.0')
    .withKraft()
    .withEnvironment({
      KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
      KAFKA_MESSAGE_MAX_BYTES: String(64 * 1024 * 1024),
      KAFKA_GROUP_MIN_SESSION_TIMEOUT_MS: '1000',
      KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
      KAFKA_LOG_RETENTION_CHECK_INTERVAL_MS: '1000',
      KAFKA_LOG_INITIAL_TASK_DELAY_MS: '1000',
      KAFKA_LOG_CLEANER_BACKOFF_MS: '1000',
    })
    .start();
  const clickhouseStarting = new GenericContainer('clickhouse/clickhouse-server:26.7')
    .withExposedPorts(8123)
    .withEnvironment({ CLICKHOUSE_SKIP_USER_SETUP: '1' })
    .withWaitStrategy(Wait.forHttp('/ping', 8123))
    .start();
  const [kafka, clickhouse] = await Promise.allSettled([kafkaStarting, clickhouseStarting]);
  if (kafka.status === 'rejected' || clickhouse.status === 'rejected') {
    if (kafka.status === 'fulfilled') await kafka.value.stop();
    if (clickhouse.status === 'fulfilled') await clickhouse.value.stop();
    throw kafka.status === 'rejected' ? kafka.reason : (clickhouse as PromiseRejectedResult).reason;
  }
  const brokerPort = 9093; // The listener that the container advertises to the host.
  return {
    endpoints: {
      kind: 'docker',
      brokers: [`${kafka.value.getHost()}:${kafka.value.getMappedPort(brokerPort)}`],
      clickhouseUrl: `http://${clickhouse.value.getHost()}:${clickhouse.value.getMappedPort(8123)}`,
    },
    stop: async () => {
      await Promise.all([kafka.value.stop(), clickhouse.value.stop()]);
    },
  };
}

function say(text: string): void {
  process.stderr.write(`[stack] ${text}\n`);
}
