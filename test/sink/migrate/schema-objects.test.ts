import type { ClickHouseClient } from '@clickhouse/client';
import { ClickHouseError } from '@clickhouse/client';
import { describe, expect, it } from 'vitest';
import { objectsOfSchema } from '../../../src/sink/migrate/migrate.ts';
import {
  missingNow,
  missingObjects,
  namesOf,
  schemaIncomplete,
  schemaObjects,
} from '../../../src/sink/migrate/schema-objects.ts';

const table = '-- why\nCREATE TABLE a\n(\n    x Int8\n)\nENGINE = MergeTree ORDER BY x';
const alter = 'ALTER TABLE a ADD COLUMN IF NOT EXISTS y Int8';
const fill = 'CREATE MATERIALIZED VIEW a_fill TO a AS\nSELECT x\nFROM landing\nWHERE x > 0';

describe('the objects that migrations make', () => {
  it('are those of the last CREATE, with what changed a table since', () => {
    expect(schemaObjects([table, fill, alter])).toEqual([
      { name: 'a', kind: 'table', source: undefined, keepsRows: true, statements: [table, alter] },
      {
        ...{ name: 'a_fill', kind: 'materialized view', source: 'landing', keepsRows: false },
        statements: [fill],
      },
    ]);
  });

  it('are gone after a DROP, and later in order when they are created again', () => {
    const drop = 'DROP VIEW IF EXISTS a_fill SYNC';
    expect(schemaObjects([fill, drop])).toEqual([]);
    expect(schemaObjects([fill, table, drop, fill]).map(({ name }) => name)).toEqual([
      'a',
      'a_fill',
    ]);
  });

  it('are replaced by CREATE OR REPLACE and by IF NOT EXISTS, and not by another CREATE', () => {
    const replaced = 'CREATE OR REPLACE TABLE a\n(\n    z Int8\n)\nENGINE = Null';
    expect(schemaObjects([table, alter, replaced])).toMatchObject([
      { keepsRows: false, statements: [replaced] },
    ]);
    const again = table.replace('TABLE a', 'TABLE IF NOT EXISTS a');
    expect(schemaObjects([table, alter, again])).toMatchObject([{ statements: [again] }]);
    expect(schemaObjects([table, alter, table])).toMatchObject([{ statements: [table, alter] }]);
  });

  it('do not come from other statements', () => {
    const statements = ['INSERT INTO a\nSELECT x\nFROM b', 'ALTER TABLE unknown DROP COLUMN x'];
    expect(schemaObjects(statements)).toEqual([]);
  });

  it('of this version are seven views of the landing table, and tables that they fill', () => {
    const objects = objectsOfSchema();
    const fills = objects.filter(({ kind }) => kind === 'materialized view');
    expect(fills.map(({ source }) => source)).toEqual(fills.map(() => 'chunk_rows'));
    const tables = objects.filter(({ keepsRows }) => keepsRows).map(({ name }) => name);
    expect(fills.map(({ name }) => name.replace(/_fill$/, '')).sort()).toEqual(
      tables.filter((name) => /^(latency_|drivers_|exemplars|chunk_)/.test(name)).sort(),
    );
  });
});

/** A database with these tables and views; it does not tell whether others exist. */
function database(tables: Record<string, readonly string[]>, isTold = true) {
  const asked: string[] = [];
  const client = {
    query: async ({ query, query_params }: { query: string; query_params: { name?: string } }) => {
      const { name = '' } = query_params;
      asked.push(query.startsWith('EXISTS') ? name : 'tables');
      if (!query.startsWith('EXISTS')) {
        const rows = Object.entries(tables).map(([table_name, views]) => ({ table_name, views }));
        return { json: async () => rows };
      }
      const denied = { message: 'Not enough privileges', code: '497', type: 'ACCESS_DENIED' };
      if (!isTold) throw new ClickHouseError(denied);
      return { json: async () => [{ result: name in tables ? 1 : 0 }] };
    },
  };
  return { client: client as unknown as ClickHouseClient, asked };
}

const objects = schemaObjects([table, fill]);
const namesIn = async ({ client }: ReturnType<typeof database>) =>
  (await missingNow(client, objects)).map(({ name }) => name);

describe('what a database lacks', () => {
  it('is nothing where all is there: one query', async () => {
    const whole = database({ a: [], a_fill: [], landing: ['a_fill'] });
    expect(await namesIn(whole)).toEqual([]);
    expect(whole.asked).toEqual(['tables']);
  });

  it('is a table, and a view that gets no rows although it exists', async () => {
    expect(await namesIn(database({ a_fill: [], landing: [] }))).toEqual(['a', 'a_fill']);
    expect(await namesIn(database({ a: [], a_fill: [] }))).toEqual([]);
    expect(await namesIn(database({ a: [] }))).toEqual(['a_fill']);
  });

  it('is not what the user may not see; a view is seen by its table', async () => {
    expect(await namesIn(database({}, false))).toEqual([]);
    expect(await namesIn(database({ landing: [] }, false))).toEqual(['a_fill']);
    expect(await namesIn(database({ landing: ['a_fill'] }, false))).toEqual([]);
  });

  it('is looked for three times: a server that starts may not have all tables yet', async () => {
    const tables: Record<string, readonly string[]> = { landing: [] };
    const starting = database(tables);
    const pauses: number[] = [];
    const sleep = async (ms: number) => {
      pauses.push(ms);
      if (pauses.length === 2) Object.assign(tables, { a: [], landing: ['a_fill'] });
    };
    expect(await missingObjects(starting.client, objects, { sleep })).toEqual([]);
    expect(pauses).toEqual([1_000, 1_000]);
  });

  it('is named, the first six of many', () => {
    expect(namesOf(objects)).toBe('table a, view a_fill');
    const many = Array.from({ length: 9 }, (_, n) => ({ kind: 'table' as const, name: `t${n}` }));
    expect(namesOf(many)).toBe(
      'table t0, table t1, table t2, table t3, table t4, table t5 and 3 more',
    );
    expect(schemaIncomplete('run', 'db', objects)).toMatchObject({
      code: 'TAILMARK_SCHEMA_MISSING',
      exitCode: 78,
      message:
        'Cannot run as database db must have every table and view that its migrations made: it lacks table a, view a_fill',
    });
  });
});
