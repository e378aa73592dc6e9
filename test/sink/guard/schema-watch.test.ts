import type { ClickHouseClient } from '@clickhouse/client';
import { expect, it } from 'vitest';
import type { Logger } from '../../../src/base/telemetry/log.ts';
import { createMetrics } from '../../../src/base/telemetry/metrics.ts';
import { SchemaWatch } from '../../../src/sink/guard/schema-watch.ts';
import { schemaObjects } from '../../../src/sink/migrate/schema-objects.ts';

it('a view that is dropped is a problem and a metric until it is back, and is logged once', async () => {
  const fill = 'CREATE MATERIALIZED VIEW a_fill TO a AS\nSELECT x\nFROM landing';
  let views = ['a_fill'];
  const client = {
    query: async () => ({ json: async () => [{ table_name: 'landing', views }] }),
  } as unknown as ClickHouseClient;
  const lines: [string, unknown, string][] = [];
  const note = (level: string) => (fields: unknown, text: string) => {
    lines.push([level, fields, text]);
  };
  const log = { error: note('error'), info: note('info') } as unknown as Logger;
  const metrics = createMetrics();
  const objects = schemaObjects([fill]);
  const watch = new SchemaWatch({ client, database: 'db', objects, log, metrics });
  const gauge = async () => (await metrics.schemaMissingObjects.get()).values[0]?.value;
  const seen = async () => {
    await watch.observe();
    return [await gauge(), ...watch.problems()];
  };
  const text =
    'database db lacks view a_fill: rows may be lost; stop the ingesters and run tailmark migrate';

  expect(await seen()).toEqual([0]);
  views = [];
  expect(await seen()).toEqual([1, `schema: ${text}`]);
  expect(await seen()).toEqual([1, `schema: ${text}`]);
  views = ['a_fill'];
  expect(await seen()).toEqual([0]);
  expect(lines).toEqual([
    ['error', { database: 'db', missing: ['a_fill'] }, text],
    ['info', { database: 'db' }, 'the database has all its tables and views again'],
  ]);
}, 20_000);
