import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createClient } from '@clickhouse/client';
import { daySeconds, hourMs, hourSeconds } from '../src/base/time.ts';
import { configSchema } from '../src/config/schema.ts';
import { chunkSettingsOf } from '../src/ingest/chunk/chunk-settings.ts';
import { emptyBegin, OpenChunk } from '../src/ingest/chunk/open-chunk.ts';
import { startClickHouse } from '../src/local/clickhouse/clickhouse-server.ts';
import { ChunkBlock } from '../src/sink/chunks/chunk-block.ts';
import { ClickHouseChunkStore } from '../src/sink/chunks/chunk-store.ts';
import { migrate } from '../src/sink/migrate/migrate.ts';
import { benchEvents } from './traffic/bench-events.ts';

/**
 * What a series takes on disk: an hour of twenty series with nine rows a window, in chunks of the default
 * `ingest.flush_interval` as they are while ingest keeps up, through the tables' own views. Bytes are those
 * of the merged parts. *keyed*: a series is in one partition; *any*: in each of eight.
 *
 *     npm run bench -- disk [--rates 2,11,40] [--partitions 1,8]
 */
const { values } = parseArgs({
  options: {
    rates: { type: 'string', default: '2,11,40' },
    partitions: { type: 'string', default: '1,8' },
  },
});
const SERIES = 20;
const ROWS_A_WINDOW = 9;
const startMs = Math.floor(Date.now() / hourMs - 2) * hourMs;
const windowSeconds = {
  latency_10s: 10,
  latency_1m: 60,
  latency_1h: hourSeconds,
  latency_1d: daySeconds,
};
const say = (text: string) => process.stdout.write(`${text}\n`);

const dir = mkdtempSync(join(tmpdir(), 'tailmark-bench-'));
const server = await startClickHouse({
  dataDir: dir,
  database: 'tailmark',
  onProgress: () => undefined,
});
try {
  for (const partitions of values.partitions.split(',').map(Number)) {
    for (const rate of values.rates.split(',').map(Number)) await measure(rate, partitions);
  }
} finally {
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
}

async function measure(rate: number, partitions: number): Promise<void> {
  const database = `disk_${rate}_${partitions}`;
  const config = configSchema.parse({ clickhouse: { url: server.url, database } });
  await migrate(config.clickhouse);
  const client = createClient({ url: server.url, database });
  try {
    const store = new ClickHouseChunkStore(client, 'bench');
    await storeHour(store, rate, partitions);
    for (const table of Object.keys(windowSeconds)) {
      await client.command({ query: `OPTIMIZE TABLE ${table} FINAL` });
    }
    const result = await client.query({
      query: `SELECT table, sum(rows) AS rows, sum(bytes_on_disk) AS bytes FROM system.parts
        WHERE active AND database = '${database}' GROUP BY table`,
      format: 'JSONEachRow',
    });
    const sizes = await result.json<{ table: string; rows: string; bytes: string }>();
    say(
      `${rate} requests a second of a series, ${partitions === 1 ? 'keyed' : `any of ${partitions} partitions`}`,
    );
    let kept = 0;
    for (const [table, seconds] of Object.entries(windowSeconds)) {
      const size = sizes.find((entry) => entry.table === table);
      const perRow = Number(size?.bytes) / Number(size?.rows);
      const aDay = (perRow * ROWS_A_WINDOW * daySeconds) / seconds;
      const keptMs = config.clickhouse.retention[table as keyof typeof windowSeconds];
      const ofSeries = (aDay * keptMs) / (daySeconds * 1_000);
      kept += ofSeries;
      say(
        `  ${table}: ${size?.rows} rows of ${perRow.toFixed(0)} bytes; ` +
          `a series ${megabytes(aDay)} a day, ${megabytes(ofSeries)} kept`,
      );
    }
    say(`  in all ${megabytes(kept)} kept of a series`);
  } finally {
    await client.command({ query: `DROP DATABASE ${database} SYNC` });
    await client.close();
  }
}

/** Stores an hour, a chunk a partition and flush interval. */
async function storeHour(
  store: ClickHouseChunkStore,
  rate: number,
  partitions: number,
): Promise<void> {
  const config = configSchema.parse({});
  const context = { config, groupId: 'bench', block: new ChunkBlock() };
  const open = Array.from({ length: partitions }, (_, partition) => ({
    chunk: new OpenChunk(context, chunkSettingsOf(config), 'bench', partition),
    offset: 0,
  }));
  const eventsPerSecond = rate * SERIES;
  const perChunk = (eventsPerSecond * config.ingest.flush_interval) / 1_000;
  const count = eventsPerSecond * hourSeconds;
  const nowMs = startMs + hourMs;
  const seal = async () => {
    for (const each of open) {
      const { chunk: sealed } = each.chunk.seal(nowMs);
      await store.insert(sealed);
      const { endOffset: startOffset, watermarkMs } = sealed;
      each.chunk.begin({ ...emptyBegin, startOffset, watermarkMs }, nowMs);
    }
  };
  for (const { chunk } of open) chunk.begin(emptyBegin, nowMs);
  // The first chunk is half as long. All others begin in the middle of a window, which is about their turn.
  let left = perChunk / 2;
  let n = 0;
  const options = { seed: 1, count, eventsPerMessage: 1, eventsPerSecond, seriesCount: SERIES };
  for (const value of benchEvents({ ...options, startMs })) {
    const each = open[n++ % partitions] as (typeof open)[0];
    each.chunk.add({ offset: each.offset++, timestampMs: startMs, value });
    if (--left > 0) continue;
    await seal();
    left = perChunk;
  }
  await seal();
  for (const { chunk } of open) chunk.close();
}

function megabytes(bytes: number): string {
  const inMb = bytes / 1e6;
  return `${inMb.toFixed(inMb < 10 ? 1 : 0)} MB`;
}
