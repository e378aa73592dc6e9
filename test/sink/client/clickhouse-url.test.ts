import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { configSchema } from '../../../src/config/schema.ts';
import { clickHouseError, openClickHouse } from '../../../src/sink/client/clickhouse.ts';
import { rowsOf } from '../../../src/sink/client/read-query.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A proxy that serves ClickHouse below /ch, and its own page elsewhere. */
async function startProxy(ownPage: { readonly status: number; readonly text: string }) {
  const asked: { path: string; database: string | null }[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://proxy');
    asked.push({ path: pathname, database: searchParams.get('database') });
    request.resume();
    const isBelow = pathname === '/ch' || pathname.startsWith('/ch/');
    response.writeHead(isBelow ? 200 : ownPage.status);
    response.end(isBelow ? '{"n":1}\n' : ownPage.text);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

async function ask(url: string) {
  const { clickhouse } = configSchema.parse({ clickhouse: { url, database: 'd' } });
  const client = openClickHouse(clickhouse);
  try {
    return await rowsOf(client, 'SELECT 1 AS n');
  } catch (error) {
    throw clickHouseError(error, 'read', clickhouse);
  } finally {
    await client.close();
  }
}

describe('clickhouse.url', () => {
  it.each(['/ch', '/ch/', '/ch/a/b'])('may have a path: %s', async (path) => {
    const { base, asked } = await startProxy({ status: 404, text: 'no such page' });
    expect(await ask(`${base}${path}`)).toEqual([{ n: 1 }]);
    expect(asked).toEqual([{ path, database: 'd' }]);
  });

  it.each([
    ['/other', 404, 'no such page', 'no such page'],
    ['', 502, '<html>\nBad Gateway', '<html>'],
    ['/', 403, 'BUG: x', 'BUG: x'],
  ])('of what is not ClickHouse is refused: %s', async (path, status, text, shown) => {
    const { base } = await startProxy({ status, text });
    await expect(ask(`${base}${path}`)).rejects.toMatchObject({
      code: 'TAILMARK_CLICKHOUSE_UNREACHABLE',
      exitCode: 69,
      message:
        'Cannot read: clickhouse.url must be the HTTP interface of ClickHouse: ' +
        `${base}${path} responded "${shown}"`,
    });
  });

  it.each(['http://h:1/?max_execution_time=30', 'http://h:1?', 'http://h:1/ch#part'])(
    'has no settings: %s',
    (url) => {
      const checked = configSchema.safeParse({ clickhouse: { url } });
      expect(checked.error?.issues.map(({ message }) => message)).toEqual([
        "must have no query and no fragment: settings belong to the user's profile",
      ]);
    },
  );
});
