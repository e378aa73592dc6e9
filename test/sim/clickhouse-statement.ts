import { readQuery } from '../../src/sink/read-query.ts';
import { markOf, stageCountsOf } from './decoded-blocks.ts';
import type { SimDatabase, StoredLedgerRow } from './sim-clickhouse.ts';

type Params = Readonly<Record<string, unknown>>;
type Rows = Record<string, string | number>[];

const INSERT_ROWS = /^INSERT INTO chunk_rows \([a-z_0-9, ]+\) FORMAT RowBinary$/;
const INSERT_AGAIN =
  /^INSERT INTO chunk_rows \([a-z_0-9, ]+, only_table\)\nSELECT .+ FROM input\(.+\)\nWHERE .+\nFORMAT RowBinary$/s;
const settingsOfInsert: Readonly<Record<string, unknown>> = {
  async_insert: 0,
  wait_end_of_query: 1,
  insert_deduplicate: 1,
  deduplicate_blocks_in_dependent_materialized_views: 1,
};

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
    for (const [name, value] of Object.entries(settingsOfInsert)) {
      if (settings[name] !== value) throw new Error(`an insert must have ${name} = ${value}`);
    }
    return String(settings.insert_deduplication_token ?? '');
  },

  /** Returns the result of a query. */
  answer(query: string, params: Params, database: SimDatabase, nowMs: number): Rows {
    switch (query) {
      case readQuery('chunk_state'):
        return chunkState(params, database, nowMs);
      case readQuery('chunk_places'):
        return chunkPlaces(params, database);
      case readQuery('ledger_end'):
        return ledgerEnd(params, database);
      case readQuery('group_begin'):
        return groupBegin(params, database);
      default:
        throw new Error(`the simulator knows no ${query}`);
    }
  },
};

function chunkState(params: Params, database: SimDatabase, nowMs: number): Rows {
  const { groupId, topic, partition, startOffset, endOffset, firstTimestampMs } = params;
  database.noteLook(`${groupId}/${topic}/${partition}/${startOffset}`, nowMs);
  const since = Math.floor(Number(params.sinceMs) / 1000);
  const prefix = `${groupId}/${topic}/${partition}/${startOffset}-`;
  const landed = (database.tables[0]?.blocks ?? []).filter(
    ({ token, atMs, bytes }) =>
      token.startsWith(prefix) &&
      Math.floor(atMs / 1000) >= since &&
      markOf(bytes).mark === Number(params.mark),
  );
  const landedAt = Math.min(...landed.map(({ atMs }) => Math.floor(atMs / 1000) * 1000));
  const isRow = (row: StoredLedgerRow) =>
    row.group_id === groupId &&
    row.topic === topic &&
    row.partition === partition &&
    row.start_offset === startOffset &&
    row.end_offset === endOffset &&
    row.first_ms === firstTimestampMs;
  return [
    {
      ledger_rows: database.ledger.filter(isRow).length,
      landed_rows: landed.length,
      landed_samples: landed
        .flatMap(({ bytes }) => stageCountsOf(bytes))
        .reduce((sum, { requests }) => sum + requests, 0),
      // The least of no rows is the epoch.
      chunks_since: database.ledger.filter(
        ({ flushed_ms }) => flushed_ms >= (landed.length === 0 ? 0 : landedAt),
      ).length,
      tokens_kept: database.tokensKept,
    },
  ];
}

function chunkPlaces({ mark }: Params, database: SimDatabase): Rows {
  const places: Rows = [];
  for (const { name, blocks } of database.tables) {
    const days = blocks.map(({ bytes }) => markOf(bytes)).filter((found) => found.mark === mark);
    for (const dayS of new Set(days.map((found) => found.dayS))) {
      places.push({ place: name, part: beginningOf(name, dayS) });
    }
  }
  return places;
}

/** The beginning of a table's partition that holds a day. */
function beginningOf(table: string, dayS: number): number {
  const date = new Date(dayS * 1000);
  const year = date.getUTCFullYear();
  if (table === 'chunk_rows') return 0;
  if (table === 'latency_1h') return Date.UTC(year, date.getUTCMonth()) / 1000;
  return table === 'latency_1d' ? Date.UTC(year, 0) / 1000 : dayS;
}

function ledgerEnd({ groupId, topic, partition }: Params, database: SimDatabase): Rows {
  const written = database.ledger
    .filter((row) => row.group_id === groupId && row.topic === topic && row.partition === partition)
    .sort((a, b) => a.flushed_ms - b.flushed_ms || a.end_offset - b.end_offset);
  // A row that was written twice counts at its first writing.
  const rows = written.filter((row, i) => i === written.findIndex((each) => isSame(each, row)));
  const madeAnewMs = Math.max(0, ...rows.map((row, i) => laterLogMs(row, rows.slice(0, i))));
  const end = rows.findLast(({ last_ms }) => last_ms >= madeAnewMs);
  if (end === undefined) return [];
  const { end_offset, watermark_ms } = end;
  const latest_ms = Math.max(...rows.map(({ first_ms, last_ms }) => Math.max(first_ms, last_ms)));
  return [{ end_offset, latest_ms, watermark_ms }];
}

function isSame(a: StoredLedgerRow, b: StoredLedgerRow): boolean {
  const isRange = a.start_offset === b.start_offset && a.end_offset === b.end_offset;
  return isRange && a.first_ms === b.first_ms && a.last_ms === b.last_ms;
}

/** Where a row and those before it are of two logs: the first record of the later one. */
function laterLogMs(row: StoredLedgerRow, before: readonly StoredLedgerRow[]): number {
  const [furthest] = before.toSorted((a, b) => b.end_offset - a.end_offset);
  if (furthest === undefined || row.start_offset >= furthest.end_offset) return 0;
  if (row.first_ms > furthest.last_ms) return row.first_ms;
  return furthest.first_ms > row.last_ms ? furthest.first_ms : 0;
}

function groupBegin({ groupId, topic }: Params, database: SimDatabase): Rows {
  const rows = database.ledger.filter((row) => row.group_id === groupId && row.topic === topic);
  if (rows.length === 0) return [];
  return [{ first_ms: Math.min(...rows.map(({ flushed_ms }) => flushed_ms)) }];
}
