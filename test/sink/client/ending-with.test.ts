import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ClickHouseClient, QueryParams } from '@clickhouse/client';
import { expect, it } from 'vitest';
import { endingWith } from '../../../src/sink/client/ending-with.ts';

it('lets the many queries of one answer end with one signal, without a warning of a leak', async () => {
  const warnings: Error[] = [];
  const warned = (warning: Error) => warnings.push(warning);
  process.on('warning', warned);
  let ended = 0;
  // As the real client does, each query listens until it has ended.
  const query = async ({ abort_signal }: QueryParams) =>
    abort_signal?.addEventListener('abort', () => ended++);
  const cancelling = new AbortController();
  const client = endingWith({ query } as unknown as ClickHouseClient, cancelling.signal);
  for (let n = 0; n < 12; n++) await client.query({ query: 'SELECT 1' });
  await nextTurn();
  process.off('warning', warned);
  expect(warnings).toEqual([]);
  cancelling.abort();
  expect(ended).toBe(12);
  await expect(client.query({ query: 'SELECT 1' })).rejects.toThrow('aborted');
});

it('sends the given settings with each query, but for those that the query has itself', async () => {
  const sent: QueryParams['clickhouse_settings'][] = [];
  const query = async ({ clickhouse_settings }: QueryParams) => sent.push(clickhouse_settings);
  const { signal } = new AbortController();
  const client = endingWith({ query } as unknown as ClickHouseClient, signal, { max_threads: 1 });
  await client.query({ query: 'SELECT 1' });
  await client.query({ query: 'SELECT 1', clickhouse_settings: { max_threads: 2 } });
  expect(sent.map((settings) => settings?.max_threads)).toEqual([1, 2]);
});
