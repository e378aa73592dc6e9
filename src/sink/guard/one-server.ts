import { createHash } from 'node:crypto';
import { type Clock, systemClock } from '../../base/clock.ts';
import { OperatorError } from '../../base/operator-error.ts';
import type { Config } from '../../config/schema.ts';
import { type ClickHouseClient, openClickHouse } from '../client/clickhouse.ts';
import { readRows } from '../client/read-query.ts';

/** The server behind clickhouse.url, as a new connection finds it. */
export interface FoundServer {
  /** Id of the server, and of its table `flushes`. */
  readonly identity: string;
  /** The local clock against the server's. */
  readonly clockAheadMs: number;
}

/**
 * Short id of a store, for commits and among the members of a group. A database that is restored from a backup
 * has another one: the group may have come further than the backup has.
 */
export function storeIdOf({ identity }: Pick<FoundServer, 'identity'>): string {
  return createHash('sha256').update(identity).digest('hex').slice(0, 12);
}

/** Options of the look-up; by default as configured. */
export interface ServerLookup {
  /** Opens a client with its own connections. */
  readonly open: () => ClickHouseClient;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/**
 * Asks on several new connections at once, so that a balancer spreads them.
 *
 * @throws OperatorError TAILMARK_CLICKHOUSE_UNSUPPORTED when they lead to several servers.
 */
export async function findServer(
  config: Config['clickhouse'],
  connections: number,
  lookup: ServerLookup = { open: () => openClickHouse(config), clock: systemClock },
): Promise<FoundServer> {
  const asked = Array.from({ length: connections }, () => ask(config.database, lookup));
  const found = await Promise.all(asked);
  const identities = [...new Set(found.map(({ identity }) => identity))].sort();
  if (identities.length > 1) {
    const count = `${identities.length} servers behind ${connections} connections`;
    throw changingServer(`${count} (${identities.join(', ')})`);
  }
  // The least difference is the one that was measured best.
  return found.reduce((best, each) =>
    Math.abs(each.clockAheadMs) < Math.abs(best.clockAheadMs) ? each : best,
  );
}

/** @param found value of the message: the servers. */
export function changingServer(found: string): OperatorError {
  return new OperatorError(
    'TAILMARK_CLICKHOUSE_UNSUPPORTED',
    `Cannot store each chunk exactly once as clickhouse.url must always lead to the same server and tables: it leads to ${found}`,
    {
      hint:
        'Deduplication and the ledger are those of one server. Name that server, not a balancer or a ' +
        'name of several; a proxy before one server is fine.',
    },
  );
}

async function ask(database: string, { open, clock }: ServerLookup): Promise<FoundServer> {
  const client = open();
  try {
    const requestMs = clock.nowMs();
    const [row] = await readRows<Record<'server' | 'found' | 'now_ms', string>>(
      client,
      'server_identity',
    );
    const responseMs = clock.nowMs();
    if (row === undefined || row.found === '0') {
      throw new Error(`database ${database} has no table flushes`);
    }
    return {
      identity: row.server,
      clockAheadMs: clockAheadMs(requestMs, Number(row.now_ms), responseMs),
    };
  } finally {
    await client.close();
  }
}

/**
 * Time by which the local clock is ahead of a server's, in milliseconds; negative when it is behind. The
 * server read its clock at some time between request and response. So this is the least difference that
 * explains the response, and 0 where none is needed.
 */
export function clockAheadMs(requestMs: number, serverMs: number, responseMs: number): number {
  if (serverMs < requestMs) return requestMs - serverMs;
  return serverMs > responseMs ? responseMs - serverMs : 0;
}
