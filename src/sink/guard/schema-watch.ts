import type { Logger } from '../../base/telemetry/log.ts';
import type { Metrics } from '../../base/telemetry/metrics.ts';
import type { ClickHouseClient } from '../client/clickhouse.ts';
import { missingObjects, namesOf, type SchemaObject } from '../migrate/schema-objects.ts';

export interface SchemaWatchOptions {
  readonly client: ClickHouseClient;
  readonly database: string;
  /** Tables and views that the migrations make. */
  readonly objects: readonly SchemaObject[];
  readonly log: Pick<Logger, 'error' | 'info'>;
  readonly metrics: Pick<Metrics, 'schemaMissingObjects'>;
}

/**
 * Looks for tables and views that were dropped while the process runs. Without a view, chunks are stored and
 * one table gets no rows: no insert fails.
 */
export class SchemaWatch {
  readonly #options: SchemaWatchOptions;
  /** Names of what is missing; '' for nothing. */
  #missing = '';

  constructor(options: SchemaWatchOptions) {
    this.#options = options;
  }

  /** Looks once. @throws when ClickHouse does not respond. */
  async observe(): Promise<void> {
    const { client, database, log, metrics, objects } = this.#options;
    const missing = await missingObjects(client, objects);
    metrics.schemaMissingObjects.set(missing.length);
    const names = missing.length === 0 ? '' : namesOf(missing);
    if (names === this.#missing) return;
    this.#missing = names;
    if (names === '') log.info({ database }, 'the database has all its tables and views again');
    else log.error({ database, missing: missing.map(({ name }) => name) }, this.#text());
  }

  problems(): string[] {
    return this.#missing === '' ? [] : [`schema: ${this.#text()}`];
  }

  #text(): string {
    const { database } = this.#options;
    return `database ${database} lacks ${this.#missing}: rows may be lost; stop the ingesters and run tailmark migrate`;
  }
}
