import { systemClock } from '../../base/clock.ts';
import { OperatorError } from '../../base/operator-error.ts';
import type { Config } from '../../config/schema.ts';
import { openClickHouse } from '../clickhouse.ts';
import { readRows } from '../read-query.ts';
import { clockAheadMs } from './clock-ahead.ts';

/** The server behind clickhouse.url, as a new connection finds it. */
export interface FoundServer {
  /** Id of the server, and of its table `flushes`. */
  readonly identity: string;
  /** The local clock against the server's. */
  readonly clockAheadMs: number;
}

/**
 * Asks on several new connections at once, so that a balancer spreads them.
 *
 * @throws OperatorError TAILMARK_CLICKHOUSE_UNSUPPORTED when they lead to several servers.
 */
export async function findServer(
  config: Config['clickhouse'],
  connections: number,
): Promise<FoundServer> {
  const found = await Promise.all(Array.from({ length: connections }, () => ask(config)));
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

async function ask(config: Config['clickhouse']): Promise<FoundServer> {
  const client = openClickHouse(config);
  try {
    const requestMs = systemClock.nowMs();
    const [row] = await readRows<Record<'server' | 'tables' | 'found' | 'now_ms', string>>(
      client,
      'server_identity',
    );
    const responseMs = systemClock.nowMs();
    if (row === undefined || row.found === '0') {
      throw new Error(`database ${config.database} has no table flushes`);
    }
    return {
      identity: `${row.server}/${row.tables}`,
      clockAheadMs: clockAheadMs(requestMs, Number(row.now_ms), responseMs),
    };
  } finally {
    await client.close();
  }
}
