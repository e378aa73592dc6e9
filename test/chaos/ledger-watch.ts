import type { Config } from '../../src/config/schema.ts';
import { type ClickHouseClient, openClickHouse } from '../../src/sink/client/clickhouse.ts';

/** A partition in the ledger. */
export interface LedgerExtent {
  readonly partition: number;
  readonly first: number;
  readonly end: number;
  readonly records: number;
}

/** Reads the ledger while servers fail: every result may be undefined, without a server. */
export class LedgerWatch {
  readonly client: ClickHouseClient;

  constructor(config: Config['clickhouse']) {
    this.client = openClickHouse({ ...config, request_timeout: 30_000 });
  }

  /** Events that the ledger accounts for. */
  async consumed(): Promise<number | undefined> {
    const rows = await this.#rows('SELECT sum(consumed) AS n FROM flushes');
    return rows === undefined ? undefined : Number(rows[0]?.n ?? 0);
  }

  /** Process ids that stored the last chunk of each partition since a time. */
  async owners(sinceMs: number): Promise<ReadonlyMap<number, number> | undefined> {
    const rows = await this.#rows(
      `SELECT partition, argMax(instance, end_offset) AS instance FROM flushes
       WHERE flushed_at > fromUnixTimestamp64Milli({sinceMs:Int64}) GROUP BY partition`,
      { sinceMs },
    );
    return rows && new Map(rows.map((row) => [Number(row.partition), pidOf(row.instance)]));
  }

  /** Times at which each partition's first chunk since a time was stored by another process than `pid`. */
  async flushedElsewhere(
    pid: number,
    sinceMs: number,
  ): Promise<ReadonlyMap<number, number> | undefined> {
    const rows = await this.#rows(
      `SELECT partition, toUnixTimestamp64Milli(min(flushed_at)) AS ms FROM flushes
       WHERE flushed_at > fromUnixTimestamp64Milli({sinceMs:Int64})
         AND NOT endsWith(instance, {suffix:String})
       GROUP BY partition`,
      { sinceMs, suffix: `/${pid}` },
    );
    return rows && new Map(rows.map((row) => [Number(row.partition), Number(row.ms)]));
  }

  async extents(): Promise<LedgerExtent[] | undefined> {
    const rows = await this.#rows(
      `SELECT partition, min(start_offset) AS first, max(end_offset) AS end,
              sum(records) AS records
       FROM flushes GROUP BY partition ORDER BY partition`,
    );
    return rows?.map(({ partition, first, end, records }) => ({
      partition: Number(partition),
      first: Number(first),
      end: Number(end),
      records: Number(records),
    }));
  }

  close(): Promise<void> {
    return this.client.close();
  }

  async #rows(
    query: string,
    params: Record<string, unknown> = {},
  ): Promise<Record<string, string>[] | undefined> {
    try {
      const result = await this.client.query({
        query,
        query_params: params,
        format: 'JSONEachRow',
      });
      return await result.json<Record<string, string>>();
    } catch {
      return undefined;
    }
  }
}

/** Instances are named host/pid. */
function pidOf(instance: string | undefined): number {
  return Number(instance?.slice(instance.lastIndexOf('/') + 1));
}
