import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Kafka, logLevel } from 'kafkajs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Config, configSchema } from '../../src/config/schema.ts';
import { queryClickHouse, startClickHouse } from '../../src/local/clickhouse/clickhouse-server.ts';
import { processIdentity } from '../../src/local/process/process-identity.ts';
import {
  type LocalStack,
  startLocalClickHouse,
  startLocalStack,
} from '../../src/local/stack/local-stack.ts';
import { useStack } from '../containers/stack.ts';
import { pollUntil } from '../local/poll-until.ts';
import { presentTopics } from './kit/present-topics.ts';

useStack(); // Skips these tests, with the reason, where the machine lacks Java, Maven or chdb.

interface Endpoints {
  readonly kafka: { readonly brokers: string[]; readonly pid: number };
  readonly clickhouse: { readonly url: string; readonly database: string; readonly pid: number };
}

const bin = fileURLToPath(new URL('../../bin/tailmark.js', import.meta.url));
const stopDeadlineMs = 30_000;
let dir: string;
let child: ChildProcess | undefined;
let stack: LocalStack | undefined;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tailmark-up-'));
});
afterEach(async () => {
  await stack?.stop();
  stack = undefined;
  if (child !== undefined && child.exitCode === null && child.signalCode === null) {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  child = undefined;
  rmSync(dir, { recursive: true, force: true });
});

const portOf = (address: string) => Number(address.slice(address.lastIndexOf(':') + 1));
const isRunning = (pid: number) => processIdentity(pid) !== null;
const output = { out: '', err: '' };

/** Runs `tailmark up --json`; resolves when it has printed a line or has ended. */
async function up(...args: string[]): Promise<ChildProcess> {
  output.out = '';
  output.err = '';
  const started = spawn(process.execPath, [bin, 'up', '--json', '--dir', dir, ...args]);
  started.stdout.on('data', (part) => {
    output.out += part;
  });
  started.stderr.on('data', (part) => {
    output.err += part;
  });
  child = started;
  const isOver = () => started.exitCode !== null || started.signalCode !== null;
  await pollUntil('tailmark up is ready', () => output.out.includes('\n') || isOver(), 90_000);
  return started;
}

async function start(options: { fresh?: boolean } = {}): Promise<LocalStack> {
  stack = await startLocalStack({ dir, ...options });
  return stack;
}

async function stop(): Promise<void> {
  await stack?.stop();
  stack = undefined;
}

function configOf(brokers: string[]): Config['kafka'] {
  return configSchema.parse({ kafka: { brokers } }).kafka;
}

function kafkaOf(brokers: string[]): Kafka {
  return new Kafka({ brokers, logLevel: logLevel.NOTHING });
}

async function produce(brokers: string[], topic: string, value: Buffer | string): Promise<void> {
  const admin = kafkaOf(brokers).admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic, numPartitions: 1 }] });
  await admin.disconnect();
  const producer = kafkaOf(brokers).producer();
  await producer.connect();
  await producer.send({ topic, messages: [{ value }] });
  await producer.disconnect();
}

async function endOffset(brokers: string[], topic: string): Promise<string | undefined> {
  const admin = kafkaOf(brokers).admin();
  await admin.connect();
  const [offsets] = await admin.fetchTopicOffsets(topic);
  await admin.disconnect();
  return offsets?.high;
}

/** Reads the first message of a topic; returns its size. */
async function sizeOfFirst(brokers: string[], topic: string): Promise<number | undefined> {
  const consumer = kafkaOf(brokers).consumer({ groupId: topic });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  const sizeBytes = await new Promise<number | undefined>((resolve) => {
    void consumer.run({ eachMessage: async ({ message }) => resolve(message.value?.length) });
  });
  await consumer.disconnect();
  return sizeBytes;
}

describe('tailmark up', () => {
  it('prints one line of endpoints that work, refuses a second one, and ends both on SIGTERM', async () => {
    const started = await up();
    expect(output.out.split('\n')).toHaveLength(2);
    const { kafka, clickhouse } = JSON.parse(output.out) as Endpoints;
    expect(JSON.parse(output.out)).toEqual({
      kafka: { brokers: [expect.stringMatching(/^127\.0\.0\.1:\d+$/)], pid: expect.any(Number) },
      clickhouse: {
        url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
        database: 'tailmark',
        pid: expect.any(Number),
      },
    });
    const sql = "SELECT count() FROM system.databases WHERE name = 'tailmark'";
    expect(await queryClickHouse(portOf(clickhouse.url), sql)).toBe('1\n');
    expect(await presentTopics(configOf(kafka.brokers), ['inference.timings.v1'])).toEqual([
      'inference.timings.v1',
    ]);
    expect(isRunning(kafka.pid) && isRunning(clickhouse.pid)).toBe(true);
    await expect(startLocalStack({ dir })).rejects.toMatchObject({
      code: 'TAILMARK_LOCAL_IN_USE',
      exitCode: 69,
      message: expect.stringMatching(new RegExp(`is held by process ${started.pid} since`)),
    });

    started.kill('SIGTERM');
    await pollUntil('tailmark up has ended', () => started.exitCode !== null, stopDeadlineMs);
    expect(started.exitCode).toBe(0);
    expect(isRunning(kafka.pid) || isRunning(clickhouse.pid)).toBe(false);
    expect(readdirSync(dir).sort()).toEqual(['clickhouse', 'kafka', 'ports.json']);
  });

  it('leaves nothing running when it is killed, and starts again at once in the same place', async () => {
    const started = await up();
    const before = JSON.parse(output.out) as Endpoints;
    started.kill('SIGKILL');
    await once(started, 'exit');
    const after = await start();
    expect(isRunning(before.kafka.pid) || isRunning(before.clickhouse.pid)).toBe(false);
    expect(after.kafka.brokers).toEqual(before.kafka.brokers);
    expect(after.clickhouse.url).toBe(before.clickhouse.url);
  });

  it('ends both by themselves after a kill -9 of the command', async () => {
    const started = await up();
    const { kafka, clickhouse } = JSON.parse(output.out) as Endpoints;
    started.kill('SIGKILL');
    const gone = () => !isRunning(kafka.pid) && !isRunning(clickhouse.pid);
    await pollUntil('Kafka and ClickHouse have ended', gone, stopDeadlineMs);
  });

  it.each(['kafka', 'clickhouse'] as const)(
    'reports it and ends with 69 if %s dies',
    async (part) => {
      const started = await up();
      const endpoints = JSON.parse(output.out) as Endpoints;
      process.kill(endpoints[part].pid, 'SIGKILL');
      await pollUntil('tailmark up has ended', () => started.exitCode !== null, stopDeadlineMs);
      expect(started.exitCode).toBe(69);
      expect(output.err).toContain('unexpectedly');
      expect(isRunning(endpoints.kafka.pid) || isRunning(endpoints.clickhouse.pid)).toBe(false);
    },
  );

  it('leaves nothing when it is interrupted before it is ready', async () => {
    const abort = new AbortController();
    let pids: number[] = [];
    const starting = startLocalStack({
      dir,
      signal: abort.signal,
      onProgress: ({ state }) => {
        if (state !== 'ready' || abort.signal.aborted) return;
        const children = JSON.parse(readFileSync(join(dir, 'children.json'), 'utf8'));
        pids = children.map((started: { pid: number }) => started.pid);
        abort.abort(new Error('interrupted'));
      },
    });
    await expect(starting).rejects.toThrow('interrupted');
    expect(pids.length).toBeGreaterThan(0);
    expect(pids.filter(isRunning)).toEqual([]);
    expect(readdirSync(dir).sort()).toEqual(['clickhouse', 'kafka', 'ports.json']);
  });
});

describe('the local stack', () => {
  it('takes a message of 50 MB, keeps its data over a restart, wipes it when fresh, and shows why it fails', async () => {
    const first = await start();
    await produce(first.kafka.brokers, 'large', Buffer.alloc(50_000_000, 'x'));
    await produce(first.kafka.brokers, 'kept', 'hello');
    const create = 'CREATE TABLE tailmark.kept ENGINE = MergeTree ORDER BY n AS SELECT 7 AS n';
    await queryClickHouse(portOf(first.clickhouse.url), create);
    await stop();

    const second = await start();
    expect(second.kafka.brokers).toEqual(first.kafka.brokers);
    expect(await endOffset(second.kafka.brokers, 'kept')).toBe('1');
    expect(await sizeOfFirst(second.kafka.brokers, 'large')).toBe(50_000_000);
    const select = 'SELECT n FROM tailmark.kept';
    expect(await queryClickHouse(portOf(second.clickhouse.url), select)).toBe('7\n');
    await stop();

    writeFileSync(join(dir, 'mine.txt'), 'not of the local stack');
    const third = await start({ fresh: true });
    expect(await presentTopics(configOf(third.kafka.brokers), ['large', 'kept'])).toEqual([]);
    const tables = "SELECT count() FROM system.tables WHERE database = 'tailmark'";
    expect(await queryClickHouse(portOf(third.clickhouse.url), tables)).toBe('0\n');
    expect(readdirSync(dir)).toContain('mine.txt');
    await stop();

    // Storage that cannot be read: the last lines of the log say why.
    writeFileSync(join(dir, 'kafka', 'data', 'meta.properties'), 'damaged');
    await expect(startLocalStack({ dir })).rejects.toMatchObject({
      code: 'TAILMARK_LOCAL_START_FAILED',
      exitCode: 69,
      message: expect.stringMatching(
        /^Cannot start Kafka: .*ended with code 1\n(?:.*\n)*.*node ID not found/,
      ),
    });
  });

  it('refuses a given port that is taken, by number and flag, and leaves nothing', async () => {
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as { port: number };
    await expect(startLocalStack({ dir, kafkaPort: port })).rejects.toMatchObject({
      code: 'TAILMARK_PORT_TAKEN',
      exitCode: 69,
      message: expect.stringContaining(`--kafka-port must be a free port; it is ${port}`),
    });
    await new Promise((done) => server.close(done));
    expect(readdirSync(dir)).toEqual([]);
  });

  it('refuses a directory that cannot be made', async () => {
    writeFileSync(join(dir, 'file'), '');
    const path = join(dir, 'file', 'data');
    await expect(startLocalStack({ dir: path })).rejects.toMatchObject({
      code: 'TAILMARK_PATH_UNWRITABLE',
      exitCode: 69,
      message: `Cannot keep data: the directory must be writable; it is ${path} (ENOTDIR)`,
    });
  });

  it('stops ClickHouse again when there is no Java', async () => {
    const env = { PATH: '', TAILMARK_CACHE_DIR: join(dir, 'cache') };
    await expect(startLocalStack({ dir, env })).rejects.toMatchObject({
      code: 'TAILMARK_LOCAL_JAVA_MISSING',
      exitCode: 69,
      hint: expect.stringContaining('docker compose up'),
    });
    expect(readdirSync(dir)).not.toContain('lock.json');
    expect(readdirSync(dir)).not.toContain('children.json');
  });
});

describe('startLocalClickHouse', () => {
  it('runs without Java, in the same directory and on the same ports as the stack', async () => {
    const env = { PATH: '', TAILMARK_CACHE_DIR: join(dir, 'cache') };
    const alone = await startLocalClickHouse({ dir, env });
    const { url, pid } = alone.clickhouse;
    try {
      await queryClickHouse(portOf(url), 'CREATE TABLE tailmark.t ENGINE = Log AS SELECT 1 AS n');
      expect(readdirSync(dir)).toContain('lock.json');
    } finally {
      await alone.stop();
    }
    expect(await alone.exited).toMatchObject({ part: 'clickhouse' });
    expect(isRunning(pid)).toBe(false);
    expect(readdirSync(dir).sort()).toEqual(['clickhouse', 'ports.json']);
    const { clickhouse } = await start();
    expect(clickhouse.url).toBe(url);
    expect(await queryClickHouse(portOf(url), 'SELECT n FROM tailmark.t')).toBe('1\n');
  });
});

describe('startClickHouse', () => {
  it('gives users their password and grants, and no more', async () => {
    const users = [{ name: 'reader', password: 'p<&', grants: ['GRANT SELECT ON tailmark.*'] }];
    const server = await startClickHouse({
      dataDir: join(dir, 'clickhouse'),
      database: 'tailmark',
      users,
      onProgress: () => {},
    });
    try {
      const ask = async (password: string, query: string) => {
        const authorization = `Basic ${Buffer.from(`reader:${password}`).toString('base64')}`;
        const response = await fetch(server.url, {
          method: 'POST',
          body: query,
          headers: { authorization, connection: 'close' },
        });
        return { status: response.status, text: await response.text() };
      };
      const create = 'CREATE TABLE tailmark.t ENGINE = MergeTree ORDER BY n AS SELECT 1 AS n';
      await queryClickHouse(portOf(server.url), create);
      expect(await ask('p<&', 'SELECT n FROM tailmark.t')).toEqual({ status: 200, text: '1\n' });
      expect((await ask('p<&', 'DROP TABLE tailmark.t')).text).toContain('ACCESS_DENIED');
      expect((await ask('wrong', 'SELECT 1')).text).toContain('AUTHENTICATION_FAILED');
    } finally {
      await server.stop();
    }
    expect(isRunning(server.pid)).toBe(false);
  });
});
