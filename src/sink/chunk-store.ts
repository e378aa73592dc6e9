import { Readable } from 'node:stream';
import type { ClickHouseClient } from '@clickhouse/client';
import { type Chunk, chunkToken } from './chunk.ts';
import { chunkColumns } from './encode-chunk.ts';

const insertRows = `INSERT INTO chunk_rows (${chunkColumns.join(', ')}) FORMAT RowBinary`;

/** One block, one acknowledgement after all views are filled, and never asynchronously. */
const insertSettings = {
  async_insert: 0,
  wait_end_of_query: 1,
  insert_deduplicate: 1,
  deduplicate_blocks_in_dependent_materialized_views: 1,
  input_format_parallel_parsing: 0,
  max_insert_block_size: '10000000',
  min_insert_block_size_rows: '0',
  min_insert_block_size_bytes: '0',
  max_partitions_per_insert_block: '0',
} as const;

/** Where chunks and their ledger are kept. */
export interface ChunkStore {
  /** Stores a chunk's rows. Sending the same chunk again changes nothing. */
  insert(chunk: Chunk): Promise<void>;
  /** Writes the ledger row, which says that the chunk is stored in every table. */
  record(chunk: Chunk): Promise<void>;
  /** Whether the ledger has a chunk that starts at this offset with a record of this time. */
  isRecorded(chunk: Chunk): Promise<boolean>;
}

/** Chunks in ClickHouse: steps 3 and 4 of the protocol in docs/exactly-once.md. */
export class ClickHouseChunkStore implements ChunkStore {
  readonly #client: ClickHouseClient;
  readonly #instance: string;

  /** @param instance names this process in the ledger. */
  constructor(client: ClickHouseClient, instance: string) {
    this.#client = client;
    this.#instance = instance;
  }

  async insert(chunk: Chunk): Promise<void> {
    if (chunk.rows.rowCount === 0) return;
    const { stream } = await this.#client.exec({
      query: insertRows,
      values: Readable.from([chunk.rows.bytes], { objectMode: false }),
      clickhouse_settings: { ...insertSettings, insert_deduplication_token: chunkToken(chunk) },
    });
    for await (const _ of stream) {
      // The answer is empty; reading it to its end gives the socket back.
    }
  }

  async record(chunk: Chunk): Promise<void> {
    await this.#client.insert({
      table: 'flushes',
      format: 'JSONEachRow',
      values: [
        {
          group_id: chunk.groupId,
          topic: chunk.topic,
          partition: chunk.partition,
          start_offset: chunk.startOffset,
          end_offset: chunk.endOffset,
          first_timestamp: seconds(chunk.firstTimestampMs),
          last_timestamp: seconds(chunk.lastTimestampMs),
          watermark: seconds(Math.max(0, chunk.watermarkMs)),
          records: chunk.records,
          consumed: chunk.consumed,
          aggregated: chunk.aggregated,
          rejected: chunk.rejected,
          late: chunk.late,
          overflow: chunk.overflow,
          late_merged: chunk.lateMerged,
          samples: chunk.rows.samples,
          row_count: chunk.rows.rowCount,
          window_min: Math.floor(chunk.rows.windowMinMs / 1000),
          window_max: Math.floor(chunk.rows.windowMaxMs / 1000),
          instance: this.#instance,
        },
      ],
      clickhouse_settings: {
        async_insert: 0,
        wait_end_of_query: 1,
        insert_deduplicate: 1,
        insert_deduplication_token: `ledger/${chunkToken(chunk)}`,
      },
    });
  }

  async isRecorded(chunk: Chunk): Promise<boolean> {
    const result = await this.#client.query({
      query: `SELECT count() AS found FROM flushes
              WHERE group_id = {groupId:String} AND topic = {topic:String}
                AND partition = {partition:UInt32} AND start_offset = {startOffset:UInt64}
                AND end_offset = {endOffset:UInt64}
                AND first_timestamp = fromUnixTimestamp64Milli({firstTimestampMs:Int64})`,
      query_params: {
        groupId: chunk.groupId,
        topic: chunk.topic,
        partition: chunk.partition,
        startOffset: chunk.startOffset,
        endOffset: chunk.endOffset,
        firstTimestampMs: chunk.firstTimestampMs,
      },
      format: 'JSONEachRow',
    });
    const rows = await result.json<{ found: string | number }>();
    return Number(rows[0]?.found ?? 0) > 0;
  }
}

/** A DateTime64(3) in JSON: seconds with three decimals. */
function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}
