// Covers src/sink/client/read-query.ts.

import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client';
import { describe, expect, it, vi } from 'vitest';
import { readingSettings, reliedSettings } from '../../../src/sink/client/query-settings.ts';
import { readRows } from '../../../src/sink/client/read-query.ts';
import { rowBinaryOf } from '../../../src/sink/row-binary/row-binary-of.ts';

type Asked = { query: string; clickhouse_settings?: Record<string, unknown> };

const all = { ...reliedSettings, ...readingSettings };

/** A client whose server has these settings in force, and refuses to change the fixed ones. */
function clientOf(fixed: readonly string[], inForce: Readonly<Record<string, string>> = {}) {
  const asked: Asked[] = [];
  const answer = (options: Asked) => {
    asked.push(options);
    const sent: Record<string, unknown> = { ...reliedSettings, ...options.clickhouse_settings };
    const refused = fixed.find((name) => sent[name] !== undefined);
    if (refused !== undefined) {
      const message = `Cannot modify '${refused}' setting in readonly mode`;
      throw new ClickHouseError({ message, code: '164' });
    }
    if (!options.query.includes('system.settings')) return [{ n: 1 }];
    return Object.entries(all).map(([name, value]) => {
      const is_fixed = fixed.includes(name) ? 1 : 0;
      return { name, value: inForce[name] ?? String(value), is_fixed, user: 'ann' };
    });
  };
  const client = {
    query: async (options: Asked) => {
      const rows = answer(options);
      return { json: async () => rows };
    },
    exec: async (options: Asked) => {
      answer(options);
      return { stream: [Buffer.from('x')] };
    },
  } as unknown as ClickHouseClient;
  return { client, asked };
}

describe('settings of queries', () => {
  it('are those of the client, where its user may change them', async () => {
    const { client, asked } = clientOf([]);
    expect(await readRows(client, 'progress', { groupId: 'g' })).toEqual([{ n: 1 }]);
    expect(asked.map(({ clickhouse_settings }) => clickhouse_settings)).toEqual([{}]);
  });

  it('are left out for a user of readonly = 1, once found out', async () => {
    const { client, asked } = clientOf(Object.keys(all));
    expect(await readRows(client, 'progress', { groupId: 'g' })).toEqual([{ n: 1 }]);
    expect((await rowBinaryOf(client, 'series_windows', {})).toString()).toBe('x');
    const none = Object.fromEntries(Object.keys(all).map((name) => [name, undefined]));
    expect(asked.map(({ clickhouse_settings }) => clickhouse_settings)).toEqual([
      {},
      none,
      none,
      { wait_end_of_query: 1, ...none },
    ]);
  });

  it('are left out of a query too that is refused after another one has found out', async () => {
    const { client } = clientOf(Object.keys(all));
    const query = client.query.bind(client);
    let answerFirst = (): void => undefined;
    const later = new Promise<void>((resolve) => {
      answerFirst = resolve;
    });
    vi.spyOn(client, 'query').mockImplementationOnce(async (options) => {
      await later;
      return query(options);
    });
    const slow = readRows(client, 'progress', { groupId: 'g' });
    await readRows(client, 'progress', { groupId: 'g' });
    answerFirst();
    expect(await slow).toEqual([{ n: 1 }]);
  });

  it('are sent but for those that a constraint fixes', async () => {
    const { client, asked } = clientOf(['final', 'max_threads'], { max_threads: '8' });
    await readRows(client, 'progress', { groupId: 'g' });
    expect(asked.at(-1)?.clickhouse_settings).toEqual({ final: undefined, max_threads: undefined });
  });

  it('are refused by name where they change what a query means and cannot be changed', async () => {
    const { client } = clientOf(Object.keys(all), { join_use_nulls: '1', limit: '50' });
    await expect(readRows(client, 'progress', { groupId: 'g' })).rejects.toMatchObject({
      code: 'TAILMARK_CLICKHOUSE_SETTINGS',
      exitCode: 78,
      message:
        'Cannot read from ClickHouse as setting join_use_nulls of user ann must be 0: it is 1; ' +
        'Cannot read from ClickHouse as setting limit of user ann must be 0: it is 50',
    });
  });

  it('change nothing of other errors', async () => {
    const failing = {
      query: async () => {
        throw new ClickHouseError({ message: 'no memory', code: '241' });
      },
    } as unknown as ClickHouseClient;
    await expect(readRows(failing, 'progress', {})).rejects.toMatchObject({ code: '241' });
  });
});
