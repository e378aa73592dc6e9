import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { queryClickHouse, startClickHouse } from '../../src/local/clickhouse/clickhouse-server.ts';
import { startLocalClickHouse, startLocalStack } from '../../src/local/stack/local-stack.ts';
import { pollUntil } from '../local/poll-until.ts';
import {
  configOf,
  type Endpoints,
  isRunning,
  portOf,
  stopDeadlineMs,
  useLocalStacks,
} from './kit/local-stacks.ts';
import { presentTopics } from './kit/present-topics.ts';

const { dir, output, up, start } = useLocalStacks();

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
    await expect(startLocalStack({ dir: dir() })).rejects.toMatchObject({
      code: 'TAILMARK_LOCAL_IN_USE',
      exitCode: 69,
      message: expect.stringMatching(new RegExp(`is held by process ${started.pid} since`)),
    });

    started.kill('SIGTERM');
    await pollUntil('tailmark up has ended', () => started.exitCode !== null, stopDeadlineMs);
    expect(started.exitCode).toBe(0);
    expect(isRunning(kafka.pid) || isRunning(clickhouse.pid)).toBe(false);
    expect(readdirSync(dir()).sort()).toEqual(['clickhouse', 'kafka', 'ports.json']);
  });

  it('ends both by themselves after a kill -9 of the command', async () => {
    const started = await up();
    const { kafka, clickhouse } = JSON.parse(output.out) as Endpoints;
    started.kill('SIGKILL');
    const gone = () => !isRunning(kafka.pid) && !isRunning(clickhouse.pid);
    await pollUntil('Kafka and ClickHouse have ended', gone, stopDeadlineMs);
  });

  it('leaves nothing when it is interrupted before it is ready', async () => {
    const abort = new AbortController();
    let pids: number[] = [];
    const starting = startLocalStack({
      dir: dir(),
      signal: abort.signal,
      onProgress: ({ state }) => {
        if (state !== 'ready' || abort.signal.aborted) return;
        const children = JSON.parse(readFileSync(join(dir(), 'children.json'), 'utf8'));
        pids = children.map((started: { pid: number }) => started.pid);
        abort.abort(new Error('interrupted'));
      },
    });
    await expect(starting).rejects.toThrow('interrupted');
    expect(pids.length).toBeGreaterThan(0);
    expect(pids.filter(isRunning)).toEqual([]);
    expect(readdirSync(dir()).sort()).toEqual(['clickhouse', 'kafka', 'ports.json']);
  });
});

describe('the local stack', () => {
  it('refuses a given port that is taken, by number and flag, and leaves nothing', async () => {
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as { port: number };
    await expect(startLocalStack({ dir: dir(), kafkaPort: port })).rejects.toMatchObject({
      code: 'TAILMARK_PORT_TAKEN',
      exitCode: 69,
      message: expect.stringContaining(`--kafka-port must be a free port; it is ${port}`),
    });
    await new Promise((done) => server.close(done));
    expect(readdirSync(dir())).toEqual([]);
  });

  it('refuses a directory that cannot be made', async () => {
    writeFileSync(join(dir(), 'file'), '');
    const path = join(dir(), 'file', 'data');
    await expect(startLocalStack({ dir: path })).rejects.toMatchObject({
      code: 'TAILMARK_PATH_UNWRITABLE',
      exitCode: 69,
      message: `Cannot keep data: the directory must be writable; it is ${path} (ENOTDIR)`,
    });
  });

  it('stops ClickHouse again when there is no Java', async () => {
    const env = { PATH: '', TAILMARK_CACHE_DIR: join(dir(), 'cache') };
    await expect(startLocalStack({ dir: dir(), env })).rejects.toMatchObject({
      code: 'TAILMARK_LOCAL_JAVA_MISSING',
      exitCode: 69,
      hint: expect.stringContaining('docker compose up'),
    });
    expect(readdirSync(dir())).not.toContain('lock.json');
    expect(readdirSync(dir())).not.toContain('children.json');
  });
});

describe('startLocalClickHouse', () => {
  it('runs without Java, in the same directory and on the same ports as the stack', async () => {
    const env = { PATH: '', TAILMARK_CACHE_DIR: join(dir(), 'cache') };
    const alone = await startLocalClickHouse({ dir: dir(), env });
    const { url, pid } = alone.clickhouse;
    try {
      await queryClickHouse(portOf(url), 'CREATE TABLE tailmark.t ENGINE = Log AS SELECT 1 AS n');
      expect(readdirSync(dir())).toContain('lock.json');
    } finally {
      await alone.stop();
    }
    expect(await alone.exited).toMatchObject({ part: 'clickhouse' });
    expect(isRunning(pid)).toBe(false);
    expect(readdirSync(dir()).sort()).toEqual(['clickhouse', 'ports.json']);
    const { clickhouse } = await start();
    expect(clickhouse.url).toBe(url);
    expect(await queryClickHouse(portOf(url), 'SELECT n FROM tailmark.t')).toBe('1\n');
  });
});

describe('startClickHouse', () => {
  it('gives users their password and grants, and no more', async () => {
    const users = [{ name: 'reader', password: 'p<&', grants: ['GRANT SELECT ON tailmark.*'] }];
    const server = await startClickHouse({
      dataDir: join(dir(), 'clickhouse'),
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
