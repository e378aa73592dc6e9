import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/schema.ts';
import { endpoints } from '../../src/roles/serve/dashboard/endpoints.ts';
import { errorCodeOf, openClickHouse } from '../../src/sink/client/clickhouse.ts';
import { statementsOf } from '../../src/sink/migrate/migrate.ts';
import { useStack } from '../containers/stack.ts';
import { askApi, type Parameters } from './dashboard/asked-api.ts';
import { openId, seedDashboard } from './dashboard/kit/seeded-dashboard.ts';
import { databaseUsersOf } from './kit/database-users.ts';
import { poll } from './kit/poll.ts';
import { usePrivateClickHouse } from './kit/private-clickhouse.ts';
import type { Rig } from './kit/rig.ts';
import { truthOf } from './kit/truth.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const usersSql = readFileSync(new URL('../../sql/users.sql', import.meta.url), 'utf8');
const users = databaseUsersOf(usersSql);
const server = usePrivateClickHouse(users);
const accessDenied = '497';

function withPrivateServer(name: string, use: (rig: Rig) => Promise<void>) {
  const settings = { CLICKHOUSE_DATABASE: 'tailmark' };
  return withRig({ stack: { ...stack, clickhouseUrl: server.url() }, name, settings }, use);
}

/** The rig's configuration, as another user. */
function as(user: string, { config }: Rig): Config {
  const login = { username: `tailmark_${user}`, password: `of-tailmark_${user}` };
  return { ...config, clickhouse: { ...config.clickhouse, ...login } };
}

/** Runs a statement as a user; returns the error's number, '' where it was allowed. */
async function attempt(rig: Rig, user: string, query: string): Promise<string> {
  const client = openClickHouse(as(user, rig).clickhouse);
  try {
    const { stream } = await client.exec({ query });
    for await (const _ of stream) {
      // Its output does not matter.
    }
    return '';
  } catch (error) {
    return errorCodeOf(error);
  } finally {
    await client.close();
  }
}

/** Rows of every table that is written. */
function countsOf(rig: Rig): Promise<unknown[]> {
  const tables = ['chunk_landings', 'flushes', 'anomalies', 'baselines', 'detector_state'];
  return Promise.all(tables.map((table) => rig.rows(`SELECT count() AS n FROM ${table}`)));
}

const forbiddenToAll = [
  'CREATE TABLE mine (x Int8) ENGINE = Memory',
  'CREATE DATABASE mine',
  'DROP TABLE flushes',
  'TRUNCATE TABLE latency_10s',
  'ALTER TABLE flushes DELETE WHERE 1',
  'ALTER TABLE latency_10s MODIFY TTL window_start + toIntervalDay(1)',
  "INSERT INTO schema_migrations VALUES ('0006', '', now())",
  "INSERT INTO latency_10s (stage, requests) VALUES ('total', 1)",
  'RENAME TABLE flushes TO gone',
  'DETACH TABLE flushes',
  'OPTIMIZE TABLE latency_10s FINAL',
  'DROP DATABASE tailmark',
  'CREATE VIEW mine AS SELECT 1',
  "CREATE DICTIONARY mine (k UInt64, v String) PRIMARY KEY k SOURCE(HTTP(URL 'http://127.0.0.1:1/' FORMAT CSV)) LAYOUT(FLAT()) LIFETIME(0)",
  'CREATE FUNCTION mine AS (x) -> x',
  // Other databases.
  'SELECT * FROM others.secrets',
  "INSERT INTO others.secrets VALUES ('mine')",
  'DROP TABLE others.secrets',
  // Files of the server, and other servers.
  "SELECT * FROM url('http://127.0.0.1:1/', CSV, 'x String')",
  "SELECT * FROM file('secrets.csv', CSV, 'x String')",
  "SELECT * FROM remote('127.0.0.1:1', system.one)",
  "SELECT * FROM s3('http://127.0.0.1:1/x.csv', CSV, 'x String')",
  "SELECT * FROM executable('cat', TSV, 'x String')",
  "INSERT INTO FUNCTION url('http://127.0.0.1:1/', CSV, 'x String') VALUES ('mine')",
  "INSERT INTO FUNCTION file('mine.csv', CSV, 'x String') VALUES ('mine')",
  "BACKUP DATABASE tailmark TO File('mine')",
  // Users, rights, the server itself.
  'CREATE USER mine',
  "ALTER USER tailmark_writer IDENTIFIED BY 'mine'",
  'DROP USER tailmark_reader',
  'GRANT SELECT ON *.* TO tailmark_reader',
  'SHOW CREATE USER default',
  'SELECT * FROM system.users',
  'SYSTEM FLUSH LOGS',
  'SYSTEM STOP MERGES flushes',
  'SYSTEM SHUTDOWN',
];
const insertChunkRow = "INSERT INTO chunk_rows (kind, stage, requests) VALUES ('driver', '', 0)";
const insertLedgerRow = "INSERT INTO flushes (group_id, end_offset) VALUES ('privileges', 1)";
const insertLease = "INSERT INTO leases (kind, holder) VALUES ('ingest', 'privileges')";
const insertAnomaly = "INSERT INTO anomalies (id, revision) VALUES ('a', 1)";

/** Rights and missing rights of each user beyond that. */
const rules: Readonly<Record<string, { readonly can: string[]; readonly cannot: string[] }>> = {
  writer: {
    can: [
      insertChunkRow,
      insertLedgerRow,
      insertLease,
      'SELECT * FROM leases',
      'SELECT * FROM flushes',
      'SELECT sum(samples) FROM chunk_landings',
    ],
    cannot: [
      'SELECT * FROM latency_10s',
      'SELECT * FROM latency_1d',
      'SELECT * FROM chunk_rows',
      'SELECT * FROM exemplars',
      'SELECT * FROM anomalies',
      'SELECT * FROM tails_1m',
      insertAnomaly,
      "INSERT INTO detector_progress (detector) VALUES ('x')",
    ],
  },
  detector: {
    can: [
      'SELECT count() FROM latency_10s',
      'SELECT * FROM flushes',
      'SELECT * FROM exemplars',
      'SELECT * FROM anomalies_current',
      insertAnomaly,
      "INSERT INTO baselines (anomaly_id) VALUES ('a')",
      "INSERT INTO detector_progress (detector) VALUES ('x')",
      "INSERT INTO detector_state (detector) VALUES ('x')",
      "INSERT INTO detector_snapshots (detector) VALUES ('x')",
      'SELECT * FROM detector_state',
    ],
    cannot: [...[insertChunkRow, insertLedgerRow, insertLease], 'SELECT * FROM tails_1m'],
  },
  dashboard: {
    can: [
      'SELECT count() FROM latency_10s',
      'SELECT * FROM tails_1m',
      'SELECT * FROM anomalies_current',
      'SELECT * FROM exemplars',
      'SELECT * FROM mutes',
      'SELECT * FROM flushes',
      'SELECT count() FROM chunk_landings',
    ],
    cannot: [
      ...[insertChunkRow, insertLedgerRow, insertAnomaly],
      'SELECT * FROM detector_state',
      'SELECT * FROM leases',
      "INSERT INTO mutes (id) VALUES ('a')",
    ],
  },
  reader: {
    can: [
      'SELECT count() FROM latency_10s',
      'SELECT count() FROM chunk_landings',
      'SELECT * FROM tails_1h',
      'SELECT * FROM anomalies_current',
      'SELECT * FROM flushes',
    ],
    cannot: [
      insertChunkRow,
      insertLedgerRow,
      insertLease,
      insertAnomaly,
      "INSERT INTO baselines (anomaly_id) VALUES ('a')",
      "INSERT INTO detector_progress (detector) VALUES ('x')",
      "INSERT INTO exemplars (model) VALUES ('x')",
    ],
  },
};

describe('users of sql/users.sql', () => {
  it('are the four that roles and commands run as', () => {
    expect(users.map(({ name }) => name)).toEqual([
      'tailmark_writer',
      'tailmark_detector',
      'tailmark_dashboard',
      'tailmark_reader',
    ]);
  });

  it.each(Object.keys(rules))('%s may do its part and nothing else', async (user) => {
    const rule = rules[user] as (typeof rules)[string];
    await withPrivateServer('privileges', async (rig) => {
      await rig.client.command({ query: 'CREATE DATABASE IF NOT EXISTS others' });
      await rig.client.command({
        query: 'CREATE TABLE IF NOT EXISTS others.secrets (x String) ENGINE = Memory',
      });
      for (const query of rule.can) {
        expect([query, await attempt(rig, user, query)]).toEqual([query, '']);
      }
      for (const query of [...rule.cannot, ...forbiddenToAll]) {
        expect([query, await attempt(rig, user, query)]).toEqual([query, accessDenied]);
      }
    });
  });

  it('stand in statements that the server understands', async () => {
    await withPrivateServer('statements', async (rig) => {
      for (const statement of statementsOf(usersSql)) {
        expect(await rig.rows(`EXPLAIN AST ${statement}`)).not.toEqual([]);
      }
    });
  });

  it('are enough for the roles and commands that run as them', async () => {
    await withPrivateServer('roles', async (rig) => {
      const startMs = Date.now() - 120_000;
      const events = Array.from({ length: 400 }, (_, n) => ({
        ts: startMs + n * 250,
        model: 'ranker',
        stages_ms: { queue: 1 + (n % 5), forward: 30 + (n % 11) },
      }));
      // The windows are not held open once the partition is idle.
      const { windows, detect } = rig.config;
      const detector = await rig.start(['detect', 'serve'], {
        ...as('detector', rig),
        windows: { ...windows, idle_partition: 1_000 },
        detect: { ...detect, interval: 200 },
      });
      await rig.publish(events.map((event) => ({ value: JSON.stringify(event) })));
      await rig.start(['ingest'], as('writer', rig));
      await rig.untilConsumed(events.length);
      await rig.expectStages(truthOf(events));
      await poll('the detector has judged', async () => {
        const rows = await rig.rows('SELECT * FROM detector_progress');
        return rows.length > 0 ? true : undefined;
      });
      const ready = await fetch(`${detector.url}/readyz`);
      expect([ready.status, await ready.text()]).toEqual([200, 'ready\n']);

      const env = {
        ...rig.env,
        TAILMARK_CLICKHOUSE_USERNAME: 'tailmark_reader',
        TAILMARK_CLICKHOUSE_PASSWORD: 'of-tailmark_reader',
      };
      for (const argv of [['tails', '--since', '1h'], ['anomalies'], ['verify']]) {
        const { exitCode, out, err } = await rig.cli([...argv, '--json'], { env });
        expect([argv, exitCode, err]).toEqual([argv, 0, '']);
        expect(JSON.parse(out)).toBeTypeOf('object');
      }
    });
  });

  it.each(['dashboard', 'detector'])(
    'are enough for the role serve alone and each question of its API, as %s',
    async (user) => {
      await withPrivateServer('serve', async (rig) => {
        await seedDashboard(rig);
        const now = { ts: Date.now(), model: 'ranker', stages_ms: { queue: 40 } };
        await rig.publish([{ value: JSON.stringify(now) }]);
        await rig.start(['ingest'], as('writer', rig));
        const { url } = await rig.start(['serve'], as(user, rig));
        const ranker = { model: 'ranker', from: '-1h' };
        const versions = { 'a.version': 'v1', 'b.version': 'v2' };
        const load = { model: 'ranker', stage: 'queue', q: 0.95, objective_ms: 50 };
        const questions: Readonly<Record<string, Parameters>> = {
          '/v1/models': { from: '-1h' },
          '/v1/tails': { ...ranker, baseline_q: 0.99 },
          '/v1/density': ranker,
          '/v1/facets': ranker,
          '/v1/releases': ranker,
          '/v1/versions': ranker,
          '/v1/composition': ranker,
          '/v1/requests': ranker,
          '/v1/goodput': ranker,
          '/v1/lengths': ranker,
          '/v1/anomalies': { from: '-1h' },
          [`/v1/anomalies/${openId}`]: {},
          '/v1/pipeline': {},
          '/v1/mute-history': {},
          '/v1/compare': { ...ranker, ...versions },
          '/v1/verdict': { model: 'ranker', version: 'v2', baseline: 'v1' },
          '/v1/autoscale': load,
          '/v1/mutes': {},
          '/readyz': {},
        };
        await poll('load that is known', async () => {
          const { status } = await askApi(url, '/v1/autoscale', load);
          return status === 200 || undefined;
        });
        const refused: unknown[] = [];
        for (const [path, parameters] of Object.entries(questions)) {
          const { status, text } = await askApi(url, path, parameters);
          if (status !== 200) refused.push([path, status, text]);
        }
        expect(refused).toEqual([]);
        expect(rig.logLines.filter((line) => /ACCESS_DENIED|READONLY/.test(line))).toEqual([]);
        const missingPath = endpoints.filter(
          ({ path }) => !Object.keys(questions).includes(path.replace('{id}', openId)),
        );
        expect(missingPath).toEqual([]);
      });
    },
  );

  it('hold the dashboard within limits of time, memory and queries at once', async () => {
    await withPrivateServer('limits', async (rig) => {
      const endless = 'SELECT max(sipHash64(number)) FROM numbers(1000000000000)';
      const tried = (query: string) => attempt(rig, 'dashboard', query);
      const codes = { timeout: '159', memory: '241', tooMany: '202', constraint: '452' };
      expect(await tried(`${endless} SETTINGS max_execution_time = 1`)).toBe(codes.timeout);
      expect(await tried(`${endless} SETTINGS max_execution_time = 31`)).toBe(codes.constraint);
      expect(await tried(`${endless} SETTINGS max_execution_time = 0`)).toBe(codes.constraint);
      expect(await tried('SELECT length(arrayResize([toUInt64(0)], 500000000)) AS n')).toBe(
        codes.memory,
      );
      expect(await tried('SELECT 1 SETTINGS max_memory_usage = 0')).toBe(codes.constraint);
      expect(await tried('SELECT 1 SETTINGS max_threads = 8')).toBe(codes.constraint);
      const atOnce = await Promise.all(Array.from({ length: 40 }, () => tried('SELECT sleep(3)')));
      expect(atOnce.filter((code) => code === codes.tooMany)).toHaveLength(8);
      expect(atOnce.filter((code) => code === '')).toHaveLength(32);
    });
  });

  const loginOf = (rig: Rig, user: string) => ({
    ...rig.env,
    TAILMARK_CLICKHOUSE_USERNAME: `tailmark_${user}`,
    TAILMARK_CLICKHOUSE_PASSWORD: `of-tailmark_${user}`,
  });

  it.each([
    ['writer', 'ingest', 0, 'chunk_rows, flushes'],
    [
      'detector',
      'detect',
      0,
      'anomalies, deliveries, receivers, baselines, detector_progress, detector_state',
    ],
    ['writer', 'detect', 78, 'the grant INSERT ON tailmark.anomalies'],
    ['reader', 'ingest', 78, 'the grant INSERT('],
  ])('as %s, check --connect --roles %s exits with %i', async (user, roles, exitCode, says) => {
    await withPrivateServer('check', async (rig) => {
      const before = await countsOf(rig);
      const argv = ['check', '--connect', '--roles', roles, '--json'];
      const result = await rig.cli(argv, { env: loginOf(rig, user) });
      const { findings } = JSON.parse(result.out) as { findings: { what: string }[] };
      expect(result.exitCode).toBe(exitCode);
      expect(findings.find(({ what }) => what === 'ClickHouse writes')).toMatchObject({
        ok: exitCode === 0,
        detail: expect.stringContaining(says),
        ...(exitCode === 0 ? {} : { code: 'TAILMARK_CLICKHOUSE_DENIED' }),
      });
      expect(await countsOf(rig)).toEqual(before);
    });
  });

  it('end an ingest process that may not write, with the reason and its exit code', async () => {
    await withPrivateServer('denied', async (rig) => {
      const child = rig.spawn(['run', '--roles', 'ingest'], loginOf(rig, 'reader'));
      await rig.publish([{ value: JSON.stringify({ ts: Date.now(), model: 'm', total_ms: 5 }) }]);
      expect(await child.exited).toBe(78);
      expect(child.err()).toContain('code: TAILMARK_CLICKHOUSE_DENIED');
      expect(child.err()).toContain('clickhouse.username must have');
      // A process with the right takes over, and nothing is lost.
      await rig.start(['ingest'], as('writer', rig));
      await rig.untilConsumed(1);
      await rig.expectStages(truthOf([{ total_ms: 5 }]));
    });
  });
});
