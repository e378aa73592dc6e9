import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createLog } from '../../src/base/telemetry/log.ts';
import { createMetrics } from '../../src/base/telemetry/metrics.ts';
import { dayMs } from '../../src/base/time.ts';
import { configSchema } from '../../src/config/schema.ts';
import { ChunkFlush } from '../../src/ingest/chunk-flush.ts';
import { DeadLetterBudget } from '../../src/ingest/letters/dead-letter-budget.ts';
import {
  type ClickHouseServer,
  startClickHouse,
} from '../../src/local/clickhouse/clickhouse-server.ts';
import type { Chunk } from '../../src/sink/chunks/chunk.ts';
import { ChunkBlock } from '../../src/sink/chunks/chunk-block.ts';
import { ClickHouseChunkStore } from '../../src/sink/chunks/chunk-store.ts';
import { encodeChunk } from '../../src/sink/chunks/encode-chunk.ts';
import { type ClickHouseClient, openClickHouse } from '../../src/sink/client/clickhouse.ts';
import { migrate } from '../../src/sink/migrate/migrate.ts';
import { useStack } from '../containers/stack.ts';
import { testIntent } from '../ingest/test-intent.ts';
import { TestChunk } from '../window/test-chunk.ts';

useStack(); // Skips these tests, with the reason, where the machine lacks chdb.

/** The tables that a chunk goes to, and the ledger. */
const tables = [
  'chunk_landings',
  'latency_10s',
  'latency_1m',
  'latency_1h',
  'latency_1d',
  'drivers_1m',
  'exemplars',
  'flushes',
] as const;
/** Soon after midnight, and so recent that no table drops it. */
const nowMs = Math.floor(Date.now() / dayMs) * dayMs + 30_000;

let dir: string;
let server: ClickHouseServer;
let client: ClickHouseClient;

/** Starts the server on the data of the one before. */
async function start(): Promise<void> {
  const onProgress = () => undefined;
  server = await startClickHouse({ dataDir: dir, database: 'tailmark', onProgress });
  const config = configSchema.parse({ clickhouse: { url: server.url } }).clickhouse;
  client = openClickHouse(config);
  await migrate(config);
  // Parts stay as they were inserted, so that one can be removed.
  await client.command({ query: 'SYSTEM STOP MERGES' });
}

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'tailmark-killed-'));
  await start();
});
afterEach(async () => {
  await client.close();
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** A chunk of one event at each of the times. */
function chunkOf(startOffset: number, ...times: number[]): Chunk {
  const open = new TestChunk({ facets: ['host'] }).begin();
  for (const ts of times) {
    open.add({ ts, model: `m${startOffset}`, host: 'h', total_ms: 8, trace_id: 'a' });
  }
  const place = { groupId: 'g', topic: 't', partition: 0, logId: 'c/t', startOffset };
  const rows = encodeChunk(open.accumulator, { ...place, nowMs }, new ChunkBlock());
  return {
    ...place,
    endOffset: startOffset + times.length,
    firstTimestampMs: nowMs,
    lastTimestampMs: nowMs,
    watermarkMs: nowMs,
    leaderEpoch: 3,
    records: times.length,
    consumed: times.length,
    aggregated: times.length,
    rejected: 0,
    late: 0,
    overflow: 0,
    unmapped: 0,
    weight: 0,
    lateMerged: 0,
    removedEvents: 0,
    removedOffsets: 0,
    rows,
  };
}

/**
 * Kills the server and removes parts, as after a kill between storing the token of an insert and committing
 * its part.
 */
async function killBeforeCommit(parts: readonly string[]): Promise<void> {
  await client.close();
  process.kill(server.pid, 'SIGKILL');
  await server.exited;
  for (const part of parts) rmSync(part, { recursive: true });
  await start();
}

async function rowsOf<T>(query: string): Promise<T[]> {
  return (await client.query({ query, format: 'JSONEachRow' })).json<T>();
}

/** Directories of a table's parts, in the order in which they were inserted. */
async function partsOf(table: string): Promise<string[]> {
  const rows = await rowsOf<{ path: string }>(
    `SELECT path FROM system.parts WHERE active AND database = 'tailmark' AND table = '${table}'
     ORDER BY min_block_number`,
  );
  return rows.map(({ path }) => path);
}

/** Events of each chunk in a table, by the chunk's model; rows of the ledger. */
async function counts(table: string): Promise<Record<string, number>> {
  const what =
    {
      chunk_landings:
        "concat('m', toString(start_offset)) AS model, sum(samples) AS n FROM chunk_landings",
      exemplars: 'model, count() AS n FROM exemplars',
      flushes: "concat('m', toString(start_offset)) AS model, count() AS n FROM flushes",
    }[table] ?? `model, sum(requests) AS n FROM ${table}`;
  const rows = await rowsOf<{ model: string; n: string }>(
    `SELECT ${what} GROUP BY model ORDER BY model`,
  );
  return Object.fromEntries(rows.map(({ model, n }) => [model, Number(n)]));
}

const flush = (chunk: Chunk, inherited: boolean) => {
  const claim = { topic: 't', partition: 0, isLost: false, commit: async () => undefined };
  const { rows, groupId, topic, partition, logId, startOffset, endOffset, ...counts } = chunk;
  const intent = { ...testIntent(endOffset, nowMs), nowMs, counts: { ...counts, rows } };
  return new ChunkFlush(
    claim,
    chunk,
    [],
    { before: { watermarkMs: 0, leaderEpoch: -1 }, intent, inherited, isFirst: false },
    {
      config: configSchema.parse({}),
      store: new ClickHouseChunkStore(client, 'test'),
      publisher: undefined,
      deadLetterSuffix: '.dlq',
      letterBudget: new DeadLetterBudget(1e9),
      clock: systemClock,
      guardMs: 60_000,
      log: createLog({ level: 'silent' }),
      metrics: createMetrics(),
    },
  ).run();
};

describe('a server killed between the token of an insert and its part', () => {
  it('drops what is sent again; the table that lacks it is filled, and no other', async () => {
    // Chunk i is to be missing in table i; the last one is whole.
    const chunks = [...tables, 'none'].map((_, i) => chunkOf(i * 10, nowMs, nowMs + 15_000));
    for (const chunk of chunks) await flush(chunk, false);
    const all = Object.fromEntries(chunks.map(({ startOffset }) => [`m${startOffset}`, 2]));
    const due = Object.fromEntries(
      tables.map((table) => [
        table,
        table === 'flushes' ? Object.fromEntries(Object.keys(all).map((key) => [key, 1])) : all,
      ]),
    );
    const stored = async () =>
      Object.fromEntries(await Promise.all(tables.map(async (t) => [t, await counts(t)])));
    expect(await stored()).toEqual(due);

    // A ledger row states that all tables have the chunk: none of these got that far.
    const lost = await partsOf('flushes');
    for (const [i, table] of tables.slice(0, -1).entries()) {
      const part = (await partsOf(table))[i];
      if (part !== undefined) lost.push(part);
    }
    await killBeforeCommit(lost);
    const store = new ClickHouseChunkStore(client, 'test');
    for (const [i, chunk] of chunks.entries()) {
      await store.insert(chunk);
      const missing = (await store.missing(chunk, nowMs)).parts.map(({ table }) => table);
      expect(missing).toEqual(i < tables.length - 1 ? [tables[i]] : []);
    }
    // The ledger's own tokens block its rows as well.
    for (const chunk of chunks) await flush(chunk, true);
    expect(await stored()).toEqual(due);
    for (const chunk of chunks) expect((await store.missing(chunk, nowMs)).parts).toEqual([]);
  });

  it('fills one day of a chunk that has two', async () => {
    const chunk = chunkOf(0, nowMs - dayMs, nowMs, nowMs + 1_000);
    const store = new ClickHouseChunkStore(client, 'test');
    await store.insert(chunk);
    const parts = await partsOf('latency_10s');
    expect(parts).toHaveLength(2);
    await killBeforeCommit(parts.slice(1));
    const again = new ClickHouseChunkStore(client, 'test');
    const before = (await counts('latency_10s')).m0 ?? 0;
    expect([1, 2]).toContain(before);
    await flush(chunk, true);
    for (const table of tables) {
      expect(await counts(table), table).toEqual({ m0: table === 'flushes' ? 1 : 3 });
    }
    expect((await again.missing(chunk, nowMs)).parts).toEqual([]);
  });
});
