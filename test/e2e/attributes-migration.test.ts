import { describe, expect, it } from 'vitest';
import { openClickHouse } from '../../src/sink/client/clickhouse.ts';
import { rowsOf } from '../../src/sink/client/read-query.ts';
import { migrate, readMigrations, requireSchema } from '../../src/sink/migrate/migrate.ts';
import { useStack } from '../containers/stack.ts';
import { uniqueName } from '../containers/unique-name.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const name = '0024_attributes';
/** It, and what came later. */
const fromIt = readMigrations()
  .map((each) => each.name)
  .filter((each) => each >= name);
const tables = ['latency_10s', 'latency_1m', 'latency_1h', 'latency_1d'] as const;

describe('the migration of own dimensions', () => {
  it('keeps the rows of an older version, may be repeated, and creates dropped tables with it', () =>
    withRig({ stack, name: 'attributes-migration' }, async (rig) => {
      const config = { ...rig.config.clickhouse, database: uniqueName('before') };
      const server = openClickHouse(config, { useDatabase: false });
      await server.command({ query: `CREATE DATABASE ${config.database}` });
      const client = openClickHouse(config);
      const rows = <Row>(query: string, parameters: Record<string, unknown> = {}) =>
        rowsOf<Row>(client, query, parameters);
      try {
        await client.command({
          query: `CREATE TABLE schema_migrations (name String, checksum String,
            applied_at DateTime('UTC') DEFAULT now()) ENGINE = MergeTree ORDER BY name`,
        });
        for (const earlier of readMigrations().filter((each) => each.name < name)) {
          for (const query of earlier.statements) await client.command({ query });
          const values = [{ name: earlier.name, checksum: earlier.checksum }];
          await client.insert({ table: 'schema_migrations', format: 'JSONEachRow', values });
        }
        // Rows as an older version writes them, which does so afterwards too: without the column.
        const insert = (version: string) =>
          client.command({
            query: `INSERT INTO chunk_rows (kind, window_start, model, version, stage, requests, sum_ms, min_ms, max_ms, latency)
              SELECT 'stage', toDateTime({from:UInt32} + 10 * number, 'UTC'), 'm', {version:String}, 'total', 1, 5, 5, 5,
                arrayReduce('quantilesTDigestState(0.5, 0.9, 0.95, 0.99, 0.999)', [5::Float32])
              FROM numbers(100)`,
            query_params: { version, from: Math.floor(Date.now() / 1000) - 3_600 },
          });
        await insert('v1');
        // It was begun and not finished: it is applied again.
        const [begun] = readMigrations().filter((each) => each.name === name);
        for (const query of begun?.statements ?? []) await client.command({ query });
        await client.insert({
          table: 'schema_migrations',
          format: 'JSONEachRow',
          values: [{ name, checksum: '' }],
        });
        expect((await migrate(config)).applied).toEqual(fromIt);
        await insert('v2');

        const expectAll = async () => {
          for (const table of tables) {
            const found = await rows(
              `SELECT version, attributes, attribute, toUInt32(sum(t.requests)) AS requests
               FROM {table:Identifier} AS t GROUP BY version, attributes, attribute ORDER BY version`,
              { table },
            );
            expect([table, ...found]).toEqual([
              table,
              { version: 'v1', attributes: '', attribute: {}, requests: 100 },
              { version: 'v2', attributes: '', attribute: {}, requests: 100 },
            ]);
            await client.command({ query: `OPTIMIZE TABLE ${table} FINAL` });
          }
        };
        await expectAll();
        await expectAll();
        const keys = () =>
          rows<{ name: string; sorting_key: string }>(
            `SELECT name, sorting_key FROM system.tables
             WHERE database = currentDatabase() AND startsWith(name, 'latency_1') AND engine NOT LIKE '%View' ORDER BY name`,
          );
        const before = await keys();
        expect(before.map((each) => each.name)).toEqual(tables.toSorted());
        for (const { sorting_key } of before)
          expect(sorting_key).toMatch(/cold_start, attributes, has_censored$/);

        // So is the last one that changes the keys.
        const last = '0026_ended';
        await client.command({
          query: `ALTER TABLE schema_migrations DELETE WHERE name = '${last}' SETTINGS mutations_sync = 2`,
        });
        expect((await migrate(config)).applied).toEqual([last]);
        await expectAll();
        await requireSchema(client, config);

        const definitions = () =>
          rows<{ name: string; columns: string; settings: string }>(
            `SELECT t.name AS name, t.engine_full AS settings,
               (SELECT groupArray((c.name, c.type, c.default_expression, c.compression_codec))
                FROM system.columns AS c WHERE c.database = currentDatabase() AND c.table = 'latency_1m') AS columns
             FROM system.tables AS t WHERE t.database = currentDatabase() AND t.name = 'latency_1m'`,
          );
        const whole = await definitions();
        await client.command({ query: 'DROP TABLE latency_1m SYNC' });
        expect((await migrate(config)).recreated.map((each) => each.name)).toEqual(['latency_1m']);
        expect(await keys()).toEqual(before);
        expect(await definitions()).toEqual(whole);
      } finally {
        await server.command({ query: `DROP DATABASE IF EXISTS ${config.database} SYNC` });
        await client.close();
        await server.close();
      }
    }));
});
