import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dimensions } from '../../src/base/dimensions.ts';
import { evidenceSql, quoteSql } from '../../src/contract/sql.ts';
import type { Series } from '../../src/series/series-window.ts';
import { useStack } from '../containers/stack.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();

/** Texts that try to escape from a literal, or into a parameter, a comment or a format. */
const hostile = [
  "'",
  "''",
  "\\'",
  "\\\\'",
  '\\',
  '\\\\',
  "' OR 1 = 1 --",
  "'; DROP TABLE flushes; --",
  "\\'; DROP TABLE flushes; --",
  "') UNION ALL SELECT * FROM system.users --",
  '/*',
  "*/ ' /*",
  '-- ',
  '#',
  '{model:String}',
  '${model}',
  '%s %d',
  '`',
  '"',
  '\n',
  '\r\n',
  '\t',
  '\0',
  '\b\f\v\u001b[2J',
  '\\0\\x27\\u0027\\N',
  '\u2018\u2019\u02bc\uff07',
  '\u00bf\u0027',
  '\u{1f600}\u202e',
  '',
  ' ',
  'NULL',
  '1',
];
// Half a surrogate pair has no form in UTF-8: a decoded event cannot contain it.
const text = fc.string({ unit: 'binary', maxLength: 40 });
const pieces = fc
  .array(fc.constantFrom(...hostile, 'x', '27', 'x27', '\\x'), { maxLength: 8 })
  .map((parts) => parts.join(''));

describe('evidence SQL, which people paste', () => {
  it('quotes any value so that the server reads the same', async () => {
    await withRig({ stack, name: 'quote' }, async (rig) => {
      const drawn = fc.sample(fc.oneof(text, pieces), { numRuns: 5_000, seed: 20261121 });
      const values = [...hostile, ...drawn];
      for (let from = 0; from < values.length; from += 1_000) {
        const some = values.slice(from, from + 1_000);
        const query = `SELECT [${some.map(quoteSql).join(',')}] AS read`;
        // Sent as the body: an address is too short for a statement of this length.
        const result = await rig.client.query({ query, format: 'JSONEachRow' });
        const [row] = await result.json<{ read: string[] }>();
        expect(row?.read).toEqual(some);
      }
    });
  });

  it('finds the named series and no other, for any dimensions', async () => {
    await withRig({ stack, name: 'evidence' }, async (rig) => {
      // Now, as the tables drop rows past their retention.
      const startedAtMs = Math.floor(Date.now() / 10_000) * 10_000;
      const series = hostile.map((value, n) => seriesOf(value, n % 2 === 0));
      await rig.client.insert({
        table: 'latency_10s',
        format: 'JSONEachRow',
        values: series.map((one, n) => ({
          ...one,
          window_start: startedAtMs / 1000,
          stage: 'total',
          requests: n + 1,
        })),
      });
      for (const [n, one] of series.entries()) {
        const query = evidenceSql({ series: one, q: 0.99, startedAtMs, windowMs: 10_000 });
        const result = await rig.client.query({
          query,
          format: 'JSONEachRow',
          clickhouse_settings: { readonly: '2' },
        });
        const rows = await result.json<{ requests: string }>();
        expect([one, rows.map(({ requests }) => Number(requests))]).toEqual([one, [n + 1]]);
      }
      // The ledger has no row of these.
      for (const table of ['latency_10s', 'latency_1m', 'latency_1h', 'latency_1d']) {
        await rig.client.command({
          query: 'TRUNCATE TABLE {table:Identifier}',
          query_params: { table },
        });
      }
    });
  });
});

function seriesOf(value: string, isCold: boolean): Series {
  return Object.fromEntries(
    dimensions.map((name) => [name, name === 'cold_start' ? isCold : value]),
  ) as unknown as Series;
}
