import { settingsInForce } from '../../src/sink/client/query-settings.ts';
import { readQuery } from '../../src/sink/client/read-query.ts';
import { goesTo, markOf, stageCountsOf } from './decoded-blocks.ts';
import {
  type DatabaseView,
  type InsertProfile,
  type SimDatabase,
  type StoredLedgerRow,
  tableNames,
} from './sim-clickhouse.ts';

type Params = Readonly<Record<string, unknown>>;
type Row = Record<string, unknown>;

const INSERT_ROWS = /^INSERT INTO chunk_rows \([a-z_0-9, ]+\) FORMAT Native$/;
const INSERT_AGAIN =
  /^INSERT INTO chunk_rows \([a-z_0-9, ]+, only_table\)\nSELECT .+ FROM input\(.+\)\nWHERE .+\nFORMAT Native$/s;
/** Settings in force for a user without a profile, of every server that is supported. */
const settingsOfOld: Readonly<Record<string, string>> = {
  async_insert: '0',
  insert_deduplicate: '1',
  deduplicate_blocks_in_dependent_materialized_views: '1',
};

/** ClickHouse: UNKNOWN_SETTING. */
const UNKNOWN_SETTING = '115';

/** Values of the settings that are newer than `settingsOfOld`. */
function settingsOfNew(profile: InsertProfile): Readonly<Record<string, string>> {
  if (profile === 'old') return {};
  const isOff = profile === 'off';
  return {
    deduplicate_insert: isOff ? 'disable' : 'enable',
    deduplicate_insert_select: isOff ? 'disable' : 'enable_when_possible',
  };
}

/**
 * The only place that knows the statements of the ingest role. It refuses unknown ones: a new statement must
 * be added to the simulator first.
 */
export const clickhouseStatement = {
  /** True for sending rows again, for one table. */
  isFill(query: string): boolean {
    return INSERT_AGAIN.test(query);
  },

  /** Returns the token of an insert of rows. */
  insertToken(query: string, settings: Params): string {
    if (!INSERT_ROWS.test(query) && !INSERT_AGAIN.test(query)) {
      throw new Error(`the simulator knows no ${query}`);
    }
    if (settings.wait_end_of_query !== 1) throw new Error('an insert must wait for its end');
    for (const [name, value] of Object.entries(settingsOfOld)) {
      if (String(settings[name]) !== value) {
        throw new Error(`an insert must have ${name} = ${value}`);
      }
    }
    return String(settings.insert_deduplication_token ?? '');
  },

  /**
   * True for an insert that is dropped where its token is known.
   *
   * @throws as a server does that does not know a setting.
   */
  isDeduplicated(query: string, settings: Params, profile: InsertProfile): boolean {
    const known = settingsOfNew(profile);
    if (profile === 'old') {
      const unknown = Object.keys(settingsOfNew('on')).find((name) => settings[name] !== undefined);
      if (unknown === undefined) return true;
      throw Object.assign(new Error(`unknown setting ${unknown}`), { code: UNKNOWN_SETTING });
    }
    const setting = /\nSELECT /.test(query) ? 'deduplicate_insert_select' : 'deduplicate_insert';
    return (settings[setting] ?? known[setting]) !== 'disable';
  },

  /** Returns the result of a query, of the server or of a replica that is behind. */
  answer(
    query: string,
    params: Params,
    database: SimDatabase,
    { nowMs, replicaLagMs, profile }: ServerState,
  ): Row[] {
    const isReplica = replicaLagMs !== undefined;
    const view = isReplica ? database.asOf(nowMs - replicaLagMs) : database;
    const server = isReplica ? 'replica' : 's';
    switch (query) {
      case readQuery('chunk_state'):
        noteLook(params, database, nowMs);
        return [{ ...chunkState(params, view, database.tokensKept), server }];
      case readQuery('chunk_places'):
        return [{ places: chunkPlaces(params, view), server }];
      case readQuery('ledger_ends'):
        return [{ ends: ledgerEnds(params, view), server }];
      case readQuery('server_identity'):
        return [{ server, found: 1, now_ms: nowMs }];
      case readQuery('table_engines'): {
        const engine = isReplica ? 'ReplicatedMergeTree' : 'MergeTree';
        return [...tableNames, 'flushes'].map((table_name) => ({ table_name, engine }));
      }
      case settingsInForce:
        return settingsAsked(params, profile);
      case readQuery('group_begin'):
        return [{ ...groupBegin(params, view), server }];
      default:
        throw new Error(`the simulator knows no ${query}`);
    }
  },
};

interface ServerState {
  readonly nowMs: number;
  readonly replicaLagMs: number | undefined;
  readonly profile: InsertProfile;
}

function settingsAsked({ names }: Params, profile: InsertProfile): Row[] {
  const values = { ...settingsOfOld, ...settingsOfNew(profile) };
  return Object.entries(values)
    .filter(([name]) => (names as readonly string[]).includes(name))
    .map(([name, value]) => ({ name, value, is_fixed: 0, user: 'default' }));
}

function noteLook(params: Params, database: SimDatabase, nowMs: number): void {
  const { groupId, topic, partition, logMark, startOffset } = params;
  database.noteLook(`${groupId}/${topic}/${partition}/${logMark}/${startOffset}`, nowMs);
}

function chunkState(params: Params, database: DatabaseView, tokensKept: number): Row {
  const { groupId, topic, partition, logId, startOffset, endOffset } = params;
  const since = Math.floor(Number(params.sinceMs) / 1000);
  const prefix = `${groupId}/${topic}/${partition}/${logId}/${startOffset}-`;
  const landed = (database.tables[0]?.blocks ?? []).filter(
    ({ token, atMs, bytes }) =>
      token.startsWith(prefix) &&
      Math.floor(atMs / 1000) >= since &&
      markOf(bytes).mark === Number(params.mark),
  );
  const times = landed.filter(({ isFill }) => !isFill).map(({ atMs }) => atMs);
  const sentAt =
    times.length === 0 ? Number(params.sinceMs) : Math.floor(Math.min(...times) / 1000) * 1000;
  const isRow = (row: StoredLedgerRow) =>
    row.group_id === groupId &&
    row.topic === topic &&
    row.partition === partition &&
    row.log_id === logId &&
    row.start_offset === startOffset &&
    row.end_offset === endOffset;
  return {
    ledger_rows: database.ledger.filter(isRow).length,
    landed_rows: landed.length,
    landed_samples: landed
      .flatMap(({ bytes }) => stageCountsOf(bytes))
      .reduce((sum, { requests }) => sum + requests, 0),
    chunks_since: database.ledger.filter(({ flushed_ms }) => flushed_ms >= sentAt).length,
    tokens_kept: tokensKept,
  };
}

function chunkPlaces({ mark }: Params, database: DatabaseView): string[] {
  const places: string[] = [];
  for (const { name, blocks } of database.tables) {
    const days = blocks
      .filter(({ bytes }) => goesTo(bytes, name))
      .map(({ bytes }) => markOf(bytes))
      .filter((found) => found.mark === mark);
    for (const dayS of new Set(days.map((found) => found.dayS))) {
      places.push(`${name} ${beginningOf(name, dayS)}`);
    }
  }
  return places;
}

/** The beginning of a table's partition that holds a day. */
function beginningOf(table: string, dayS: number): number {
  const date = new Date(dayS * 1000);
  const year = date.getUTCFullYear();
  if (table === 'chunk_landings') return 0;
  if (table === 'latency_1h') return Date.UTC(year, date.getUTCMonth()) / 1000;
  return table === 'latency_1d' ? Date.UTC(year, 0) / 1000 : dayS;
}

function ledgerEnds(
  { groupId, topic, partition }: Params,
  database: DatabaseView,
): (readonly string[])[] {
  const rows = database.ledger.filter(
    (row) => row.group_id === groupId && row.topic === topic && row.partition === partition,
  );
  const logIds = [...new Set(rows.map(({ log_id }) => log_id))].sort();
  return logIds.map((log_id) => {
    const ofLog = rows.filter((row) => row.log_id === log_id);
    const [last] = ofLog.toSorted((a, b) => b.end_offset - a.end_offset);
    const watermarkMs = Math.max(...ofLog.map(({ watermark_ms }) => watermark_ms));
    const { end_offset = 0, leader_epoch = -1 } = last ?? {};
    return [log_id, ...[end_offset, watermarkMs, leader_epoch].map(String)];
  });
}

function groupBegin({ groupId, topic, clusterId }: Params, database: DatabaseView): Row {
  const times = database.ledger
    .filter(
      (row) =>
        row.group_id === groupId && row.topic === topic && row.log_id.startsWith(`${clusterId}/`),
    )
    .map(({ flushed_ms }) => flushed_ms);
  return { chunks: times.length, first_ms: times.length === 0 ? 0 : Math.min(...times) };
}
