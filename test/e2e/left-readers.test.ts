import { readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { expect, it } from 'vitest';
import { createLog } from '../../src/base/telemetry/log.ts';
import { configSchema } from '../../src/config/schema.ts';
import type { ApiSources } from '../../src/roles/serve/api/sources.ts';
import { type ClickHouseClient, openClickHouse } from '../../src/sink/client/clickhouse.ts';
import { endingWith } from '../../src/sink/client/ending-with.ts';
import { rowsOf } from '../../src/sink/client/read-query.ts';
import { apiApp } from '../roles/serve/api-app.ts';
import { databaseUsersOf } from './kit/database-users.ts';
import { poll } from './kit/poll.ts';
import { usePrivateClickHouse } from './kit/private-clickhouse.ts';

const usersSql = readFileSync(new URL('../../sql/users.sql', import.meta.url), 'utf8');
const reader = { password: '', grants: ['GRANT SELECT ON tailmark.*'] };
const server = usePrivateClickHouse([
  ...databaseUsersOf(usersSql),
  { ...reader, name: 'fixed', settings: { readonly: '1' } },
  {
    ...reader,
    name: 'fixed_ending',
    settings: { readonly: '1', cancel_http_readonly_queries_on_client_close: '1' },
  },
]);

/** Takes five minutes, block by block: it ends before the test only where it is ended. */
const slow = 'SELECT sum(sleepEachRow(0.00004)) AS slow_question FROM numbers(7500000)';

function clientOf(username: string): ClickHouseClient {
  const password = username.startsWith('tailmark_') ? `of-${username}` : '';
  return openClickHouse(
    configSchema.parse({ clickhouse: { url: server.url(), username, password } }).clickhouse,
  );
}

/** The API over HTTP, whose only question takes minutes. */
async function serveSlowly(client: ClickHouseClient) {
  const log = createLog({ level: 'silent' });
  const sources = {
    log,
    nowMs: Date.now,
    mutes: (signal: AbortSignal) => rowsOf<never>(endingWith(client, signal), slow),
  } as Partial<ApiSources> as ApiSources;
  const listening = createServer(getRequestListener(apiApp(sources).fetch));
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  return {
    port: (listening.address() as AddressInfo).port,
    close: () => {
      listening.closeAllConnections();
      listening.close();
    },
  };
}

/** Waits until so many slow queries run on the server. */
function untilRunning(count: number): Promise<true> {
  const client = clientOf('default');
  let seen = -1;
  const query = `SELECT count() AS n FROM system.processes
                 WHERE query LIKE '%slow_question%' AND query NOT LIKE '%system.processes%'`;
  return poll(
    `${count} slow queries`,
    async () => {
      const [row] = await rowsOf<{ n: string }>(client, query);
      seen = Number(row?.n);
      return seen === count ? true : undefined;
    },
    { seen: () => seen },
  ).finally(() => client.close());
}

it.each(['default', 'tailmark_dashboard', 'tailmark_detector', 'fixed_ending'])(
  'a query of a client that has gone ends on the server, for user %s',
  async (user) => {
    const client = clientOf(user);
    const api = await serveSlowly(client);
    try {
      const sent = Array.from({ length: 3 }, () =>
        request({ host: '127.0.0.1', port: api.port, path: '/v1/mutes' })
          .on('error', () => undefined)
          .end(),
      );
      await untilRunning(3);
      for (const each of sent) each.destroy();
      await untilRunning(0);
    } finally {
      api.close();
      await client.close();
    }
  },
);

it('a user that may send no settings is answered', async () => {
  const client = clientOf('fixed');
  const { signal } = new AbortController();
  try {
    expect(await rowsOf(endingWith(client, signal), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  } finally {
    await client.close();
  }
});

it('a query whose signal was aborted before is not sent', async () => {
  const client = clientOf('default');
  try {
    const ended = endingWith(client, AbortSignal.abort());
    await expect(rowsOf(ended, 'SELECT 1 AS one')).rejects.toThrow('aborted');
  } finally {
    await client.close();
  }
});
