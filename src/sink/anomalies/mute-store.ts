import type { ClickHouseClient } from '@clickhouse/client';
import { addedSettings } from '../insert-settings.ts';
import { readRows } from '../read-query.ts';

/** From when to when nobody is notified of some anomalies. */
export interface Mute {
  readonly id: string;
  readonly fromMs: number;
  readonly untilMs: number;
  /** Patterns of models; empty for all. */
  readonly models: readonly string[];
  /** Empty for all. */
  readonly kinds: readonly string[];
  /** Patterns by dimension. */
  readonly dimensions: Readonly<Record<string, string>>;
  readonly why: string;
  /** Who muted it. */
  readonly who: string;
}

type MuteRow = Record<'id' | 'from_ms' | 'until_ms' | 'why' | 'who', string> &
  Pick<Mute, 'models' | 'kinds' | 'dimensions'>;

/** Mutes read at once. */
const limit = 1_000;

/** Stores mutes in ClickHouse. */
export class MuteStore {
  readonly #client: ClickHouseClient;

  constructor(client: ClickHouseClient) {
    this.#client = client;
  }

  /** Mutes that end after this time, those that end first first. */
  async endingAfter(ms: number): Promise<Mute[]> {
    const rows = await readRows<MuteRow>(this.#client, 'mutes', { afterMs: ms, limit });
    return rows.map(({ from_ms, until_ms, ...rest }) => ({
      ...rest,
      fromMs: Number(from_ms),
      untilMs: Number(until_ms),
    }));
  }

  /** Adds a mute, or replaces the one of the same id. */
  async put({ fromMs, untilMs, ...rest }: Mute): Promise<void> {
    await this.#client.insert({
      table: 'mutes',
      values: [
        {
          ...rest,
          from_time: new Date(fromMs).toISOString(),
          until_time: new Date(untilMs).toISOString(),
        },
      ],
      format: 'JSONEachRow',
      clickhouse_settings: { ...addedSettings(), date_time_input_format: 'best_effort' },
    });
  }
}
