import type { ClickHouseClient } from '@clickhouse/client';
import { daySeconds } from '../../base/time.ts';
import { onceSettings } from '../client/insert-settings.ts';
import { readRows } from '../client/read-query.ts';
import { sendBytes } from '../row-binary/row-binary-of.ts';
import { type Chunk, chunkToken, type LedgerEntry } from './chunk.ts';
import { chunkColumns, chunkColumnTypes } from './chunk-columns.ts';
import { logMarkOf } from './chunk-marks.ts';
import { type ChunkPart, chunkParts } from './chunk-parts.ts';

const insertRows = `INSERT INTO chunk_rows (${chunkColumns.join(', ')}) FORMAT Native`;

/** Repeats a chunk's rows for one partition of one table. */
const insertAgain = `INSERT INTO chunk_rows (${chunkColumns.join(', ')}, only_table)
SELECT ${chunkColumns.join(', ')}, {table:String} FROM input('${structureOf(chunkColumnTypes)}')
WHERE ({kind:String} = '' OR kind = {kind:String})
  AND toUnixTimestamp(window_start) >= {fromS:UInt32} AND toUnixTimestamp(window_start) < {toS:UInt32}
FORMAT Native`;

/**
 * One block. Its rows have different keys, so `optimize_on_insert` would find nothing to merge; it costs as much of the server's CPU as the rest
 * of the insert. Compiling expressions does not pay for some thousand rows.
 */
const blockSettings = {
  // A block names its types as text.
  input_format_native_decode_types_in_binary_format: 0,
  max_insert_block_size: '10000000',
  min_insert_block_size_rows: '0',
  min_insert_block_size_bytes: '0',
  max_partitions_per_insert_block: '0',
  optimize_on_insert: 0,
  compile_expressions: 0,
} as const;

/** State of a chunk in the tables, after an unknown outcome. */
export interface ChunkState {
  /** The ledger has it, so every table has it. */
  readonly isRecorded: boolean;
  /** A row says that it has landed; other tables may still lack it, or have it alone. */
  readonly isLanded: boolean;
  readonly landedSamples: number;
  /** Its token cannot be forgotten yet: sending it again adds only what is missing. */
  readonly isRemembered: boolean;
}

/** Parts that the tables lack of a chunk. */
export interface MissingParts {
  readonly parts: readonly ChunkPart[];
  /** No table has any of it. */
  readonly isNowhere: boolean;
}

/** End of the ledger of one log of a partition. */
export interface LedgerEnd {
  readonly logId: string;
  readonly endOffset: number;
  readonly watermarkMs: number;
  /** Leader epoch of the last record; -1 where it is not known. */
  readonly leaderEpoch: number;
}

/** A store of chunks: ClickHouse, or a stand-in. */
export type ChunkStore = Pick<ClickHouseChunkStore, keyof ClickHouseChunkStore>;

/** A process's clock may be this far ahead of the server's. */
const CLOCK_SKEW_MS = 600_000;

/** Stores chunks in ClickHouse: steps 3 and 4 of the protocol in docs/explained/exactly-once.md. */
export class ClickHouseChunkStore {
  readonly #client: ClickHouseClient;
  readonly #instance: string;
  readonly #requireServer: (identity: string) => void;

  /**
   * @param instance name of this process in the ledger.
   * @param requireServer receives the identity of the server that each read is of, before the read counts, and
   *   throws where it is another: what is read decides what is written, and a replica may be behind.
   */
  constructor(
    client: ClickHouseClient,
    instance: string,
    requireServer: (identity: string) => void = () => undefined,
  ) {
    this.#client = client;
    this.#instance = instance;
    this.#requireServer = requireServer;
  }

  /** Stores a chunk's rows. Sending the same chunk again changes nothing while its token is remembered. */
  async insert(chunk: Chunk): Promise<void> {
    if (chunk.rows.rowCount === 0) return;
    await this.#send(insertRows, {}, chunk, chunkToken(chunk));
  }

  /**
   * Parts that a chunk lacks. An insert that succeeded leaves some where the server was killed after it noted
   * the token, before it committed the rows. An insert in progress looks the same.
   */
  async missing(chunk: Chunk, sinceMs: number): Promise<MissingParts> {
    const { mark, days, rowCount } = chunk.rows;
    if (rowCount === 0) return { parts: [], isNowhere: true };
    const all = [...days.stage, ...days.driver, ...days.exemplar];
    const { places } = await this.#read<{ places: string[] }>('chunk_places', {
      mark,
      fromS: Math.min(...all) * daySeconds,
      toS: (Math.max(...all) + 1) * daySeconds,
      sinceMs: Math.max(0, sinceMs - CLOCK_SKEW_MS),
    });
    const known = new Set(places);
    const parts = chunkParts(days).filter(({ table, fromS }) => !known.has(`${table} ${fromS}`));
    return { parts, isNowhere: known.size === 0 };
  }

  /** Stores a chunk's rows in one part only. `attempt` counts failed attempts. */
  async fill(chunk: Chunk, part: ChunkPart, attempt: number): Promise<void> {
    const { table, kind = '', fromS, toS } = part;
    const token = `fill/${table}/${fromS}/${attempt}/${chunkToken(chunk)}`;
    await this.#send(insertAgain, { table, kind, fromS, toS }, chunk, token);
  }

  /**
   * Writes the ledger row, which states that every table has the chunk. `attempt` counts inserts that
   * succeeded without leaving a row, because the server was killed.
   */
  async record(chunk: LedgerEntry, attempt: number): Promise<void> {
    await this.#client.insert({
      table: 'flushes',
      format: 'JSONEachRow',
      values: [
        {
          group_id: chunk.groupId,
          topic: chunk.topic,
          partition: chunk.partition,
          log_id: chunk.logId,
          log_mark: logMarkOf(chunk.logId),
          start_offset: chunk.startOffset,
          end_offset: chunk.endOffset,
          first_timestamp: wholeMs(chunk.firstTimestampMs),
          last_timestamp: wholeMs(chunk.lastTimestampMs),
          watermark: wholeMs(Math.max(0, chunk.watermarkMs)),
          leader_epoch: chunk.leaderEpoch,
          records: chunk.records,
          consumed: chunk.consumed,
          aggregated: chunk.aggregated,
          rejected: chunk.rejected,
          late: chunk.late,
          overflow: chunk.overflow,
          unmapped: chunk.unmapped,
          weight: chunk.weight,
          late_merged: chunk.lateMerged,
          removed_events: chunk.removedEvents,
          removed_offsets: chunk.removedOffsets,
          samples: chunk.rows.samples,
          row_count: chunk.rows.rowCount,
          window_min: Math.floor(chunk.rows.windowMinMs / 1000),
          window_max: Math.floor(chunk.rows.windowMaxMs / 1000),
          instance: this.#instance,
        },
      ],
      clickhouse_settings: await onceSettings(
        this.#client,
        `ledger/${attempt === 0 ? '' : `${attempt}/`}${chunkToken(chunk)}`,
      ),
    });
  }

  /** Reads the state of a chunk that was begun at `sinceMs` or later. */
  async inspect(chunk: Chunk, sinceMs: number): Promise<ChunkState> {
    const { groupId, topic, partition, logId, startOffset, endOffset, rows } = chunk;
    const state = await this.#read<Record<string, string>>('chunk_state', {
      groupId,
      topic,
      partition,
      logId,
      logMark: logMarkOf(logId),
      startOffset,
      endOffset,
      mark: rows.mark,
      sinceMs: Math.max(0, sinceMs - CLOCK_SKEW_MS),
    });
    return {
      isRecorded: Number(state.ledger_rows) > 0,
      isLanded: Number(state.landed_rows) > 0,
      landedSamples: Number(state.landed_samples),
      // Half of the deduplication window, because pending chunks are not in the ledger yet.
      isRemembered: Number(state.chunks_since) * 2 < Number(state.tokens_kept),
    };
  }

  /** Ends of all logs that the partition has had; empty without stored chunks. */
  async ledgerEnds(groupId: string, topic: string, partition: number): Promise<LedgerEnd[]> {
    const params = { groupId, topic, partition };
    const { ends } = await this.#read<{ ends: string[][] }>('ledger_ends', params);
    return ends.map(([logId = '', endOffset, watermarkMs, leaderEpoch]) => ({
      logId,
      endOffset: Number(endOffset),
      watermarkMs: Number(watermarkMs),
      leaderEpoch: Number(leaderEpoch),
    }));
  }

  /** Time at which the group stored its first chunk of a topic of this cluster; undefined without one. */
  async groupBeginMs(
    groupId: string,
    topic: string,
    clusterId: string,
  ): Promise<number | undefined> {
    const params = { groupId, topic, clusterId };
    const begin = await this.#read<Record<string, string>>('group_begin', params);
    return Number(begin.chunks) === 0 ? undefined : Number(begin.first_ms);
  }

  async #send(
    statement: string,
    params: Record<string, unknown>,
    chunk: Chunk,
    token: string,
  ): Promise<void> {
    await sendBytes(this.#client, statement, chunk.rows.bytes, {
      query_params: params,
      clickhouse_settings: { ...blockSettings, ...(await onceSettings(this.#client, token)) },
    });
  }

  /**
   * Reads a row that says itself which server it is of. Another connection may lead to another server, and so
   * may the next request.
   */
  async #read<Row>(query: string, params: Record<string, unknown>): Promise<Row> {
    const [row] = await readRows<Row & { readonly server: string }>(this.#client, query, params);
    if (row === undefined) throw new Error(`ClickHouse returned nothing for ${query}`);
    this.#requireServer(row.server);
    return row;
  }
}

/** Columns and types for the table function `input`, as quoted text. */
function structureOf(types: Readonly<Record<string, string>>): string {
  return Object.entries(types)
    .map(([name, type]) => `${name} ${type.replaceAll("'", "\\'")}`)
    .join(', ');
}

/**
 * Formats a DateTime64(3) for JSON as a number of milliseconds. As text, ClickHouse accepts decimals only
 * after ten digits of seconds. Record timestamps and empty watermarks may have fewer.
 */
function wholeMs(ms: number): number {
  return Math.floor(ms);
}
