import { OperatorError } from '../../base/operator-error.ts';
import type { ClickHouseClient } from '../client/clickhouse.ts';
import { addedSettings } from '../client/insert-settings.ts';
import { readRows } from '../client/read-query.ts';

export type LeaseKind = 'ingest' | 'migrate';

/** A row of `leases`: its holder may write, or migrates, until it ends by the server's clock. */
export class Lease {
  readonly #client: ClickHouseClient;
  readonly #kind: LeaseKind;
  readonly #holder: string;
  readonly #seconds: number;

  /** @param seconds from the last renewal to its end. */
  constructor(client: ClickHouseClient, kind: LeaseKind, holder: string, seconds: number) {
    this.#client = client;
    this.#kind = kind;
    this.#holder = holder;
    this.#seconds = seconds;
  }

  async renew(): Promise<void> {
    await this.#write(this.#seconds);
  }

  async release(): Promise<void> {
    await this.#write(0);
  }

  async #write(seconds: number): Promise<void> {
    await this.#client.insert({
      table: 'leases',
      format: 'JSONEachRow',
      values: [{ kind: this.#kind, holder: this.#holder, seconds }],
      clickhouse_settings: addedSettings(),
    });
  }
}

interface LiveLease {
  readonly holder: string;
  readonly seconds_left: string;
}

/** Leases of a kind that are held, by holder. */
export function liveLeases(client: ClickHouseClient, kind: LeaseKind): Promise<LiveLease[]> {
  return readRows<LiveLease>(client, 'live_leases', { kind });
}

/** @throws OperatorError TAILMARK_SCHEMA_LOCKED while a lease of this kind is held. */
export async function requireNoLease(client: ClickHouseClient, kind: LeaseKind): Promise<void> {
  const leases = await liveLeases(client, kind);
  if (leases.length === 0) return;
  const shown = leases.slice(0, 5).map(({ holder, seconds_left }) => {
    return `${holder} (for another ${seconds_left} s)`;
  });
  const more = leases.length > shown.length ? ` and ${leases.length - shown.length} more` : '';
  throw new OperatorError('TAILMARK_SCHEMA_LOCKED', `${messages[kind]}${shown.join(', ')}${more}`, {
    hint: hints[kind],
  });
}

const messages = {
  ingest: 'Cannot migrate the database while ingesters hold a lease: ',
  migrate: 'Cannot ingest while a migration holds a lease: ',
} as const;

const hints = {
  ingest:
    'Stop the ingesters, migrate, then start them: events wait in Kafka. The lease of a killed process ' +
    'ends by itself.',
  migrate: 'Start it again when `tailmark migrate` has ended.',
} as const;
