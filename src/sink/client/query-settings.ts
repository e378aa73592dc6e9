import type { ClickHouseClient } from '@clickhouse/client';
import { OperatorError } from '../../base/operator-error.ts';

/**
 * Settings that statements rely on: the server's own defaults, which a user's profile (or `compatibility`)
 * may have changed. They are sent with every statement, so that it means the same for every user.
 */
export const reliedSettings = {
  // Names: an alias hides a column, a column does not hide an alias.
  enable_analyzer: 1,
  prefer_column_name_to_alias: 0,
  // NULL occurs only where a statement says so.
  join_use_nulls: 0,
  group_by_use_nulls: 0,
  aggregate_functions_null_for_empty: 0,
  data_type_default_nullable: 0,
  transform_null_in: 0,
  // Every row counts: no limit cuts a result off in silence, and none comes from a cache.
  final: 0,
  limit: '0',
  offset: '0',
  read_overflow_mode: 'throw',
  group_by_overflow_mode: 'throw',
  sort_overflow_mode: 'throw',
  result_overflow_mode: 'throw',
  timeout_overflow_mode: 'throw',
  set_overflow_mode: 'throw',
  join_overflow_mode: 'throw',
  distinct_overflow_mode: 'throw',
  use_query_cache: 0,
  // Each row is a separate object.
  output_format_json_array_of_rows: 0,
  output_format_json_map_as_array_of_tuples: 0,
} as const;

/** Settings that only make reading cheaper. */
export const readingSettings = { optimize_aggregation_in_order: 1, max_threads: 1 } as const;

/**
 * Settings by which the server ends a query whose connection is closed. It looks for that in read-only queries
 * alone: `readonly: 2` makes them so, and lets other settings be sent.
 */
export const endingSettings = {
  readonly: '2',
  cancel_http_readonly_queries_on_client_close: 1,
} as const;

/**
 * Settings of a query that leaves the processors to others: one thread, of the lowest priority. The server may
 * set priorities where it has CAP_SYS_NICE, as its packages give it; else they have no effect.
 */
export const sparingSettings = { max_threads: 1, os_thread_priority: '19' } as const;

/** Digests that one thread merges give the same quantiles each time; by several they differ by up to 0.4 %. */
export const repeatableSettings = { max_threads: 1 } as const;

type Settings = Readonly<Record<string, string | number | undefined>>;

/** ClickHouse: READONLY, SETTING_CONSTRAINT_VIOLATION. */
const refusals = new Set(['164', '452']);

/** Settings of clients whose user may not change all of them: undefined leaves one out. */
const permitted = new WeakMap<ClickHouseClient, Settings>();
/** Clients that send what another one does. */
const originals = new WeakMap<ClickHouseClient, ClickHouseClient>();

/** Settings that the user of a client may not send are left out of the statements of its copy too. */
export function sharePermittedSettings(copy: ClickHouseClient, original: ClickHouseClient): void {
  originals.set(copy, original);
}

/**
 * Runs a query with the settings that this user may send. A user of `readonly = 1` may send none: then those
 * in force must be the relied ones.
 *
 * @param run passes on the settings that it is given, in place of its own ones and the client's.
 * @throws OperatorError if a setting in force differs and may not be changed.
 */
export async function withPermittedSettings<T>(
  client: ClickHouseClient,
  run: (settings: Settings) => Promise<T>,
): Promise<T> {
  const original = originals.get(client) ?? client;
  const tried = permitted.get(original);
  try {
    return await run(tried ?? {});
  } catch (error) {
    if (tried !== undefined || !isRefusedSetting(error)) throw error;
    // Another query, begun at the same time, may have asked meanwhile.
    const found = permitted.get(original) ?? (await settingsPermitted(original));
    permitted.set(original, found);
    return run(found);
  }
}

function isRefusedSetting(error: unknown): boolean {
  return error instanceof Error && 'code' in error && refusals.has(String(error.code));
}

/** A setting as it is for this user. */
export interface SettingInForce {
  readonly name: string;
  readonly value: string;
  /** A profile has it, or the session. */
  readonly changed: boolean | number;
  /** The user may not change it. */
  readonly is_fixed: boolean | number;
  readonly user: string;
}

/** Asks for the settings of these names that the server knows. */
export const settingsInForce = `SELECT name, value, changed, readonly != 0 AS is_fixed, currentUser() AS user
FROM system.settings WHERE name IN {names:Array(String)}`;

/** @param purpose begins the message. @param wrong settings in force, and the value that each must have. */
export function fixedSettings(
  purpose: string,
  wrong: readonly (SettingInForce & { readonly wanted: string })[],
): OperatorError {
  const message = wrong.map(
    ({ name, value, user, wanted }) =>
      `${purpose} as setting ${name} of user ${user} must be ${wanted}: ` +
      `it is ${value === '' ? "''" : value}`,
  );
  return new OperatorError('TAILMARK_CLICKHOUSE_SETTINGS', message.join('; '), {
    hint:
      "Change it in the user's profile, or let the user change settings: readonly = 2 instead of 1, " +
      'without a constraint on it.',
  });
}

async function settingsPermitted(client: ClickHouseClient): Promise<Settings> {
  const all: Settings = {
    ...{ ...reliedSettings, ...readingSettings },
    ...{ ...endingSettings, ...sparingSettings },
  };
  const none = Object.fromEntries(Object.keys(all).map((name) => [name, undefined]));
  const result = await client.query({
    query: settingsInForce,
    query_params: { names: Object.keys(all) },
    clickhouse_settings: none,
    format: 'JSONEachRow',
  });
  const inForce = await result.json<SettingInForce>();
  const fixed = inForce.filter(({ is_fixed }) => Boolean(is_fixed));
  const wrong = fixed
    .filter(({ name, value }) => name in reliedSettings && value !== String(all[name]))
    .map((setting) => ({ ...setting, wanted: String(all[setting.name]) }));
  if (wrong.length > 0) throw fixedSettings('Cannot read from ClickHouse', wrong);
  return Object.fromEntries(fixed.map(({ name }) => [name, undefined]));
}
