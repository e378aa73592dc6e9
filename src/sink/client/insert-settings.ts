import { randomUUID } from 'node:crypto';
import type { ClickHouseClient } from '@clickhouse/client';
import { fixedSettings, type SettingInForce, settingsInForce } from './query-settings.ts';
import { rowsOf } from './read-query.ts';

/** One acknowledgement, after the rows are in the table and in all views. */
const acknowledged = { async_insert: 0, wait_end_of_query: 1 } as const;

/**
 * Settings of an insert that is always added, also where the same rows came before. Its token is its own: a
 * server that was killed may remember the token of earlier rows without having them. Settings alone do not
 * say so: ClickHouse 26.2 deduplicates by `deduplicate_insert`, whatever `insert_deduplicate` says.
 */
export function addedSettings() {
  return { ...acknowledged, insert_deduplication_token: randomUUID() };
}

interface Pinned {
  readonly value: string | number;
  /** Other values that mean the same as the pinned one, where a profile has fixed them. */
  readonly alike?: readonly string[];
}

/**
 * Settings by which the same token is stored once. A user's profile may say otherwise, so each insert has
 * them. The two of ClickHouse 26.2 go before `insert_deduplicate`, and the one of INSERT … SELECT before both.
 */
const pinned: Readonly<Record<string, Pinned>> = {
  async_insert: { value: 0 },
  insert_deduplicate: { value: 1 },
  deduplicate_blocks_in_dependent_materialized_views: { value: 1 },
  deduplicate_insert: { value: 'enable', alike: ['backward_compatible_choice'] },
  // Of a statement with a token, every value but `disable` deduplicates; this one throws where it cannot.
  deduplicate_insert_select: {
    value: 'force_enable',
    alike: ['enable_when_possible', 'enable_even_for_bad_queries'],
  },
};

type Settings = Readonly<Record<string, string | number>>;

/** Pinned settings that a client's server knows and its user may change. */
const known = new WeakMap<ClickHouseClient, Settings>();

/** Settings of an insert that the server stores once, however often it is sent. */
export async function onceSettings(client: ClickHouseClient, token: string) {
  const settings = known.get(client) ?? (await pinDeduplication(client)).settings;
  return { ...settings, ...acknowledged, insert_deduplication_token: token };
}

export interface Deduplication {
  readonly settings: Settings;
  /** Settings of the user's profile that each insert overrides, as `name = value`. */
  readonly overridden: readonly string[];
}

/**
 * Asks which of the settings the server knows, for the inserts that follow: a server may be upgraded, and a
 * profile changed, while the process runs.
 *
 * @throws OperatorError where the user's profile turns deduplication off and may not be overridden.
 */
export async function pinDeduplication(client: ClickHouseClient): Promise<Deduplication> {
  const names = Object.keys(pinned);
  const inForce = await rowsOf<SettingInForce>(client, settingsInForce, { names });
  const rows = inForce.flatMap((setting) => {
    const pin = pinned[setting.name];
    if (pin === undefined) return [];
    const { value, alike = [] } = pin;
    const isMeant = setting.value === String(value);
    return [{ setting, value, isMeant, isAlike: isMeant || alike.includes(setting.value) }];
  });
  const wrong = rows.filter(({ setting, isAlike }) => Boolean(setting.is_fixed) && !isAlike);
  if (wrong.length > 0) {
    throw fixedSettings(
      'Cannot store each chunk exactly once',
      wrong.map(({ setting, value }) => ({ ...setting, wanted: String(value) })),
    );
  }
  const sent = rows.filter(({ setting, isMeant }) => isMeant || !setting.is_fixed);
  const settings = Object.fromEntries(sent.map(({ setting, value }) => [setting.name, value]));
  known.set(client, settings);
  const overridden = rows
    .filter(({ setting, isAlike }) => Boolean(setting.changed) && !isAlike)
    .map(({ setting }) => `${setting.name} = ${setting.value}`)
    .sort();
  return { settings, overridden };
}
