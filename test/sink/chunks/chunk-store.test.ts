// Covers src/sink/chunks/chunk-columns.ts.

import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { ClickHouseClient } from '@clickhouse/client';
import { describe, expect, it } from 'vitest';
import { type Chunk, chunkToken } from '../../../src/sink/chunks/chunk.ts';
import { chunkColumns } from '../../../src/sink/chunks/chunk-columns.ts';
import { logMarkOf } from '../../../src/sink/chunks/chunk-marks.ts';
import { ClickHouseChunkStore } from '../../../src/sink/chunks/chunk-store.ts';
import { settingsInForce } from '../../../src/sink/client/query-settings.ts';
import { readQuery } from '../../../src/sink/client/read-query.ts';

const bytes = Buffer.from('rows');
const chunk: Chunk = {
  groupId: 'g',
  topic: 't',
  partition: 1,
  logId: 'c/t',
  startOffset: 20,
  endOffset: 30,
  firstTimestampMs: 1_790_000_000_123,
  lastTimestampMs: 1_790_000_001_000,
  watermarkMs: 1_790_000_000_999,
  leaderEpoch: 3,
  records: 9,
  consumed: 15,
  aggregated: 10,
  rejected: 2,
  late: 2,
  overflow: 1,
  unmapped: 2,
  weight: 90,
  lateMerged: 3,
  removedEvents: 4,
  removedOffsets: 5,
  rows: {
    bytes,
    rowCount: 3,
    samples: 44,
    windowMinMs: 1_790_000_000_000,
    windowMaxMs: 1_790_000_010_000,
    mark: 77,
    days: { stage: [20717, 20718], driver: [20717], exemplar: [] },
  },
};

interface Asked {
  readonly query?: string;
  readonly table?: string;
  readonly values?: unknown;
  readonly query_params?: unknown;
  readonly clickhouse_settings?: Readonly<Record<string, unknown>>;
}

/** Settings of a server of ClickHouse 26.2 or later. */
const inForce = [
  ...Object.entries({
    async_insert: '0',
    insert_deduplicate: '1',
    deduplicate_blocks_in_dependent_materialized_views: '1',
    deduplicate_insert: 'disable',
    deduplicate_insert_select: 'disable',
  }),
].map(([name, value]) => ({ name, value, is_fixed: 0, user: 'ann' }));

/** A client that records its calls, and returns the given row. */
function listeningStore(
  found: Readonly<Record<string, unknown>> = {},
  requireServer?: (identity: string) => void,
) {
  const asked: Asked[] = [];
  const client = {
    exec: async (given: Asked) => {
      asked.push({ ...given, values: await buffer(given.values as Readable) });
      return { stream: Readable.from([]) };
    },
    insert: async (given: Asked) => {
      asked.push(given);
    },
    query: async (given: Asked) => {
      if (given.query === settingsInForce) return { json: async () => inForce };
      asked.push(given);
      return { json: async () => [found] };
    },
  };
  const opened = client as unknown as ClickHouseClient;
  const store = new ClickHouseChunkStore(opened, 'host/1', requireServer);
  return { store, asked };
}

describe('insert', () => {
  it('sends one block under the token of the chunk, and waits until every view has it', async () => {
    const { store, asked } = listeningStore();
    await store.insert(chunk);
    await store.insert(chunk);
    expect(asked).toHaveLength(2);
    expect(asked[1]).toEqual(asked[0]);
    expect(asked[0]?.values).toEqual(bytes);
    expect(asked[0]?.query).toBe(
      `INSERT INTO chunk_rows (${chunkColumns.join(', ')}) FORMAT Native`,
    );
    expect(asked[0]?.clickhouse_settings).toMatchObject({
      insert_deduplication_token: chunkToken(chunk),
      insert_deduplicate: 1,
      deduplicate_insert: 'enable',
      deduplicate_insert_select: 'force_enable',
      deduplicate_blocks_in_dependent_materialized_views: 1,
      input_format_native_decode_types_in_binary_format: 0,
      async_insert: 0,
      wait_end_of_query: 1,
      min_insert_block_size_rows: '0',
      min_insert_block_size_bytes: '0',
    });
  });

  it('sends nothing for a chunk without rows', async () => {
    const { store, asked } = listeningStore();
    const rows = { ...chunk.rows, bytes: Buffer.alloc(0), rowCount: 0 };
    await store.insert({ ...chunk, rows });
    expect(asked).toEqual([]);
  });
});

describe('record', () => {
  it('writes the ledger row under its own token, times to the millisecond', async () => {
    const { store, asked } = listeningStore();
    await store.record(chunk, 0);
    expect(asked).toMatchObject([
      {
        table: 'flushes',
        values: [
          {
            group_id: 'g',
            topic: 't',
            partition: 1,
            start_offset: 20,
            end_offset: 30,
            first_timestamp: 1_790_000_000_123,
            last_timestamp: 1_790_000_001_000,
            watermark: 1_790_000_000_999,
            records: 9,
            consumed: 15,
            aggregated: 10,
            rejected: 2,
            late: 2,
            overflow: 1,
            unmapped: 2,
            weight: 90,
            late_merged: 3,
            removed_events: 4,
            removed_offsets: 5,
            samples: 44,
            row_count: 3,
            window_min: 1_790_000_000,
            window_max: 1_790_000_010,
            instance: 'host/1',
          },
        ],
        clickhouse_settings: {
          insert_deduplication_token: `ledger/${chunkToken(chunk)}`,
          insert_deduplicate: 1,
          deduplicate_insert: 'enable',
          async_insert: 0,
          wait_end_of_query: 1,
        },
      },
    ]);
  });

  it('writes 0 for a watermark without an event', async () => {
    const { store, asked } = listeningStore();
    await store.record({ ...chunk, watermarkMs: Number.NEGATIVE_INFINITY }, 0);
    expect(asked).toMatchObject([{ values: [{ watermark: 0 }] }]);
  });
});

describe('inspect', () => {
  it.each([
    ['nothing', [0, 0, 0, 100], [false, false, true]],
    ['rows only', [0, 7, 49, 100], [false, true, true]],
    ['rows, half a window of chunks ago', [0, 7, 50, 100], [false, true, false]],
    ['rows, with the window off', [0, 7, 0, 0], [false, true, false]],
    ['rows and the ledger row', [1, 7, 1, 100], [true, true, true]],
  ])('finds %s', async (_, [ledger, landed, since, kept], expected) => {
    const { store, asked } = listeningStore({
      ledger_rows: String(ledger),
      landed_rows: String(landed),
      landed_samples: String((landed ?? 0) * 3),
      chunks_since: String(since),
      tokens_kept: String(kept),
    });
    const state = await store.inspect(chunk, 1_790_000_900_000);
    const { isRecorded, isLanded, landedSamples, isRemembered } = state;
    expect([isRecorded, isLanded, isRemembered]).toEqual(expected);
    expect(landedSamples).toBe((landed ?? 0) * 3);
    expect(asked).toMatchObject([
      {
        query_params: {
          groupId: 'g',
          topic: 't',
          partition: 1,
          logId: 'c/t',
          startOffset: 20,
          endOffset: 30,
          logMark: logMarkOf('c/t'),
          sinceMs: 1_790_000_300_000,
        },
      },
    ]);
  });
});

describe('a read', () => {
  const row = { server: 'uuid/table', places: [], ends: [], chunks: '0' };
  const reads: readonly (readonly [string, (store: ClickHouseChunkStore) => Promise<unknown>])[] = [
    ['of a chunk’s state', (store) => store.inspect(chunk, 0)],
    ['of where a chunk is', (store) => store.missing(chunk, 0)],
    ['of where the ledger ends', (store) => store.ledgerEnds('g', 't', 1)],
    ['of when a group began', (store) => store.groupBeginMs('g', 't', 'c')],
  ];

  it.each(reads)('%s says itself which server it is of, and counts only then', async (_, read) => {
    const servers: string[] = [];
    const { store, asked } = listeningStore(row, (identity) => servers.push(identity));
    await read(store);
    expect(servers).toEqual(['uuid/table']);
    expect(asked).toHaveLength(1);
    const replica = listeningStore(row, () => {
      throw new Error('a replica');
    });
    await expect(read(replica.store)).rejects.toThrow('a replica');
  });

  it('names the server as the guard asks for it', () => {
    const [, identity] = /(concat\(.+) AS server/.exec(readQuery('server_identity')) ?? [];
    const queries = ['chunk_state', 'chunk_places', 'ledger_ends', 'group_begin'].map(readQuery);
    for (const query of queries) {
      expect(query).toContain(
        `(\n        SELECT ${identity}\n        FROM system.tables\n` +
          "        WHERE database = currentDatabase() AND name = 'flushes'\n    ) AS server",
      );
    }
  });

  it('gives the places and ends that ClickHouse lists as texts', async () => {
    const { store } = listeningStore({
      server: '',
      places: [`latency_10s ${20717 * 86_400}`, 'chunk_landings 0'],
      ends: [['c/t', '30', '1790000000999', '-1']],
      ...{ chunks: '2', first_ms: '1790000000000' },
    });
    const { parts, isNowhere } = await store.missing(chunk, 0);
    expect(isNowhere).toBe(false);
    const lacking = parts.filter(({ table }) => /^(latency_10s|chunk_landings)$/.test(table));
    expect(lacking.map(({ table, fromS }) => [table, fromS])).toEqual([
      ['latency_10s', 20718 * 86_400],
    ]);
    expect(await store.ledgerEnds('g', 't', 1)).toEqual([
      { logId: 'c/t', endOffset: 30, watermarkMs: 1_790_000_000_999, leaderEpoch: -1 },
    ]);
    expect(await store.groupBeginMs('g', 't', 'c')).toBe(1_790_000_000_000);
  });
});
