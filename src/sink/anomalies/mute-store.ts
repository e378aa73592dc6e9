import type { ClickHouseClient } from '@clickhouse/client';
import { isoOf } from '../../base/time.ts';
import { addedSettings } from '../client/insert-settings.ts';
import { readRows } from '../client/read-query.ts';

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
  /** Login of who muted it; of mutes of earlier versions, whatever was said. */
  readonly who: string;
  /** In whose name, as `who` has said. */
  readonly onBehalfOf?: string | undefined;
  /** Undefined for mutes of earlier versions, as all below. */
  readonly addedMs?: number | undefined;
  /** The end that was asked for. `untilMs` is earlier where somebody has ended it. */
  readonly plannedUntilMs?: number | undefined;
  readonly endedMs?: number | undefined;
  readonly endedBy?: string | undefined;
}

type Ms = string | number;
/** A row of sql/queries/mutes.sql. */
export type MuteRow = Record<'id' | 'why' | 'who' | 'on_behalf_of' | 'ended_by', string> &
  Record<'from_ms' | 'until_ms', Ms> &
  Record<'added_ms' | 'planned_until_ms' | 'ended_ms', Ms | null> &
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
    return rows.map(muteOfRow).reverse();
  }

  /** Adds a mute, or replaces the one of the same id. */
  async put(mute: Mute): Promise<void> {
    const { id, fromMs, untilMs, models, kinds, dimensions, why, who } = mute;
    await this.#client.insert({
      table: 'mutes',
      values: [
        {
          ...{ id, models, kinds, dimensions, why, who },
          from_time: isoOf(fromMs),
          until_time: isoOf(untilMs),
          on_behalf_of: mute.onBehalfOf ?? '',
          added_at: isoOf(mute.addedMs),
          planned_until: isoOf(mute.plannedUntilMs),
          ended_at: isoOf(mute.endedMs),
          ended_by: mute.endedBy ?? '',
        },
      ],
      format: 'JSONEachRow',
      clickhouse_settings: { ...addedSettings(), date_time_input_format: 'best_effort' },
    });
  }

  /** Ends a mute that holds now or later; undefined where there is none. @param by who ends it */
  async end(id: string, by: string, nowMs: number): Promise<Mute | undefined> {
    const found = (await this.endingAfter(nowMs)).find((mute) => mute.id === id);
    if (found === undefined) return undefined;
    const times = { fromMs: Math.min(found.fromMs, nowMs), untilMs: nowMs, endedMs: nowMs };
    const ended = { ...found, ...times, endedBy: by };
    await this.put(ended);
    return ended;
  }
}

export function muteOfRow({ id, models, kinds, dimensions, why, who, ...row }: MuteRow): Mute {
  return {
    ...{ id, models, kinds, dimensions, why, who },
    fromMs: Number(row.from_ms),
    untilMs: Number(row.until_ms),
    onBehalfOf: row.on_behalf_of || undefined,
    addedMs: msOf(row.added_ms),
    plannedUntilMs: msOf(row.planned_until_ms),
    endedMs: msOf(row.ended_ms),
    endedBy: row.ended_by || undefined,
  };
}

function msOf(value: Ms | null): number | undefined {
  return value === null ? undefined : Number(value);
}
