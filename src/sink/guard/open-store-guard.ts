import { randomUUID } from 'node:crypto';
import { systemClock } from '../../base/clock.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import type { Config } from '../../config/schema.ts';
import { type ClickHouseClient, clickHouseError } from '../client/clickhouse.ts';
import { pinDeduplication } from '../client/insert-settings.ts';
import { Lease, requireNoLease } from '../migrate/lease.ts';
import { requireSchema } from '../migrate/migrate.ts';
import { type FoundServer, findServer } from './one-server.ts';
import { leaseSeconds, StoreGuard } from './store-guard.ts';
import { requireEngines } from './table-engines.ts';

export interface OpenStoreGuardOptions {
  readonly client: ClickHouseClient;
  /** Name of the process or thread in `leases`. */
  readonly holder: string;
  readonly log: Logger;
  readonly onServer?: (found: FoundServer) => void;
}

/** A guard of the configured database. @throws OperatorError as StoreGuard.open does. */
export async function openStoreGuard(
  config: Config['clickhouse'],
  { client, holder, ...options }: OpenStoreGuardOptions,
): Promise<StoreGuard> {
  // Hosts and process ids repeat, in containers above all.
  const name = `${holder} ${randomUUID().slice(0, 8)}`;
  const lease = new Lease(client, 'ingest', name, leaseSeconds(config.request_timeout));
  try {
    return await StoreGuard.open({
      ...options,
      clock: systemClock,
      database: {
        find: (connections) => findServer(config, connections),
        requireEngines: () => requireEngines(client),
        requireDeduplication: async () => void (await pinDeduplication(client)),
        renewLease: () => lease.renew(),
        releaseLease: () => lease.release(),
        requireSchema: async () => {
          await requireNoLease(client, 'migrate');
          await requireSchema(client, config);
        },
      },
    });
  } catch (error) {
    throw clickHouseError(error, 'take the lease of an ingester', config);
  }
}
