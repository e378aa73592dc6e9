import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/base/telemetry/metrics.ts';
import { clickHouseError } from '../../src/sink/client/clickhouse.ts';
import { objectsOfSchema } from '../../src/sink/migrate/migrate.ts';
import { useStack } from '../containers/stack.ts';
import { benchMessages } from './kit/bench-messages.ts';
import { poll } from './kit/poll.ts';
import type { Rig } from './kit/rig.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const objects = objectsOfSchema();

/** Every table and view of the rig's database: name, and how it is made. */
async function definitions(rig: Rig): Promise<Record<string, string>> {
  const rows = await rig.rows<{ name: string; ddl: string }>(
    `SELECT name, create_table_query AS ddl FROM system.tables
     WHERE database = currentDatabase() ORDER BY name`,
  );
  return Object.fromEntries(rows.map(({ name, ddl }) => [name, ddl]));
}

const drop = (rig: Rig, ...names: readonly string[]) =>
  Promise.all(
    names.map((name) =>
      rig.client.command({
        query: 'DROP TABLE {name:Identifier} SYNC',
        query_params: { name },
      }),
    ),
  );

/** Sends events and has them stored. */
async function ingest(rig: Rig, seed: string): Promise<void> {
  const { messages, events } = benchMessages(seed, 500, 10);
  const before = await rig.consumed();
  await rig.publish(messages.map((value) => ({ value })));
  const pipeline = await rig.start(['ingest']);
  await rig.untilConsumed(before + events);
  await pipeline.stop();
}

describe('the tables and views that the migrations make', () => {
  it('are those of a migrated database, and views of the landing table get its rows', () =>
    withRig({ stack, name: 'objects' }, async (rig) => {
      expect(objects.map(({ name }) => name).sort()).toEqual(Object.keys(await definitions(rig)));
      const [landing] = await rig.rows<{ views: string[] }>(
        `SELECT arraySort(dependencies_table) AS views FROM system.tables
         WHERE database = currentDatabase() AND name = 'chunk_rows'`,
      );
      const fills = objects.filter(({ source }) => source === 'chunk_rows');
      expect(landing?.views).toEqual(fills.map(({ name }) => name).sort());
    }));

  it('are all created again as they were, once they are dropped', () =>
    withRig({ stack, name: 'all_dropped' }, async (rig) => {
      const before = await definitions(rig);
      await drop(rig, ...Object.keys(before).filter((name) => name !== 'schema_migrations'));
      const { exitCode, out, err } = await rig.cli(['migrate']);
      expect([exitCode, err]).toEqual([0, '']);
      expect(out).toContain('recreated table flushes: it is EMPTY');
      expect(out).toContain('recreated table chunk_rows\n');
      expect(out).toContain('recreated materialized view latency_1h_fill: the table that it fills');
      const after = await definitions(rig);
      expect(after).toEqual(before);
      await ingest(rig, 'all dropped');
    }));

  it('are left alone when the record of migrations is dropped; the statement that mends it is printed', () =>
    withRig({ stack, name: 'record_dropped' }, async (rig) => {
      await ingest(rig, 'one');
      const before = await definitions(rig);
      await drop(rig, 'schema_migrations');
      const { exitCode, err } = await rig.cli(['migrate']);
      expect([exitCode, err]).toEqual([78, expect.stringContaining('schema_migrations is empty')]);
      const [, statement = ''] = /migrate: (INSERT INTO .*)/.exec(err) ?? [];
      expect(await definitions(rig)).toEqual({ ...before, schema_migrations: expect.any(String) });
      await rig.client.command({ query: statement });
      expect(await rig.cli(['migrate'])).toMatchObject({ exitCode: 0, err: '' });
      await ingest(rig, 'two');
    }));
});

describe('a view that is dropped while chunks are stored', () => {
  it('is named by /readyz, a metric, check, doctor, verify and run; migrate creates it again', () => {
    const settings = { INGEST_VERIFY_INTERVAL: '1s' };
    return withRig({ stack, name: 'view_dropped', settings }, async (rig) => {
      await ingest(rig, 'first');
      const metrics = createMetrics();
      const pipeline = await rig.start(['ingest', 'serve'], rig.config, metrics);
      const ready = async () => {
        const response = await fetch(`${pipeline.url}/readyz`);
        return `${response.status} ${await response.text()}`;
      };
      const gauge = async () => (await metrics.schemaMissingObjects.get()).values[0]?.value;
      await poll('it is ready', async () => ((await ready()) === '200 ready\n' ? true : undefined));

      await drop(rig, 'latency_1h_fill');
      const unready = await poll('it is not ready', async () => {
        const response = await ready();
        return response.startsWith('503') ? response : undefined;
      });
      const { database } = rig.config.clickhouse;
      expect(unready).toMatch(
        new RegExp(
          `^503 schema: database ${database} lacks view latency_1h_fill: rows may be lost`,
        ),
      );
      expect(await gauge()).toBe(1);
      const line = rig.logLines.filter((text) => text.includes('lacks view latency_1h_fill'));
      expect(line).toHaveLength(1);

      for (const argv of [['check', '--connect'], ['doctor']]) {
        const { exitCode, out } = await rig.cli(argv);
        expect([argv, exitCode]).toEqual([argv, argv[0] === 'check' ? 78 : 1]);
        expect(out).toContain('it lacks view latency_1h_fill');
      }
      const verified = await rig.cli(['verify']);
      expect(verified.exitCode).toBe(2);
      expect(verified.out).toContain(
        'FAIL every table and view is there: missing: view latency_1h_fill\n',
      );

      const locked = await rig.cli(['migrate']);
      expect([locked.exitCode, locked.err]).toEqual([69, expect.stringContaining('SCHEMA_LOCKED')]);
      await pipeline.stop();
      const refused = await rig.start(['ingest']).catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: 'TAILMARK_SCHEMA_MISSING', exitCode: 78 });
      expect(String(refused)).toContain('it lacks view latency_1h_fill');

      const migrated = JSON.parse((await rig.cli(['migrate', '--json'])).out) as unknown;
      expect(migrated).toMatchObject({
        applied: [],
        recreated: [{ name: 'latency_1h_fill', kind: 'materialized view', keepsRows: false }],
      });
      await ingest(rig, 'second');
    });
  });
});

describe('a table that is dropped', () => {
  it('with its view is named by verify; migrate creates both again, empty', () =>
    withRig({ stack, name: 'both_dropped' }, async (rig) => {
      await ingest(rig, 'first');
      await drop(rig, 'exemplars', 'exemplars_fill');
      const verified = await rig.cli(['verify']);
      expect([verified.exitCode, verified.out]).toEqual([
        2,
        expect.stringContaining('missing: table exemplars, view exemplars_fill\n'),
      ]);
      const { exitCode, out, err } = await rig.cli(['migrate']);
      expect([exitCode, err]).toEqual([0, '']);
      expect(out).toContain('recreated table exemplars: it is EMPTY');
      expect(await rig.rows('SELECT count() AS n FROM exemplars')).toEqual([{ n: 0 }]);
      await ingest(rig, 'second');
      const [row] = await rig.rows<{ n: string }>('SELECT count() AS n FROM exemplars');
      expect(Number(row?.n)).toBeGreaterThan(0);
    }));

  it('is named by the insert that needs it, not the landing table; migrate mends it', () =>
    withRig({ stack, name: 'target_dropped' }, async (rig) => {
      await drop(rig, 'exemplars', 'latency_10s');
      const query = `INSERT INTO chunk_rows (kind, window_start, model, stage, requests)
                     VALUES ('stage', now(), 'm', 'total', 1)`;
      const { clickhouse } = rig.config;
      const failed = await rig.client.command({ query }).catch((error: unknown) => error);
      expect(clickHouseError(failed, 'store', clickhouse).message).toMatch(
        new RegExp(`^Cannot store: database ${clickhouse.database} lacks table \\w+$`),
      );
      expect(await rig.cli(['migrate'])).toMatchObject({ exitCode: 0, err: '' });
      await ingest(rig, 'after');
    }));
});
