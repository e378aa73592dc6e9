import { createClient } from '@clickhouse/client';
import { describe, expect, it } from 'vitest';
import { dimensions } from '../../src/base/dimensions.ts';
import { ChunkBlock } from '../../src/sink/chunks/chunk-block.ts';
import { chunkColumns } from '../../src/sink/chunks/chunk-columns.ts';
import { ClickHouseChunkStore } from '../../src/sink/chunks/chunk-store.ts';
import { encodeChunk } from '../../src/sink/chunks/encode-chunk.ts';
import { MapColumn } from '../../src/sink/native/map-column.ts';
import { nativeBlock } from '../../src/sink/native/native-block.ts';
import { TextColumn } from '../../src/sink/native/text-column.ts';
import { sendBytes } from '../../src/sink/row-binary/row-binary-of.ts';
import { RowBinaryWriter } from '../../src/sink/row-binary/row-binary-writer.ts';
import { decodeState } from '../../src/sketch/clickhouse-state.ts';
import { SeededRandom } from '../base/seeded-random.ts';
import { useStack } from '../containers/stack.ts';
import { chunk as fixture } from '../ingest/flush-world.ts';
import { decodeRows } from '../sink/decoded-row.ts';
import { randomEvents } from '../window/random-events.ts';
import { TestChunk } from '../window/test-chunk.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
// The tables drop rows that are older than their retention.
const startMs = Math.floor(Date.now() / 60_000 - 10) * 60_000;
const origin = {
  groupId: 'g',
  topic: 't',
  partition: 3,
  logId: 'c/t',
  startOffset: 2 ** 40 + 5,
  nowMs: startMs,
};

/** Row of a block as JSON has it: maps as objects, the digest by what it holds. */
function asJson(row: ReturnType<typeof decodeRows>[0]): Record<string, unknown> {
  const { kind, latency, censored_latency, ended_latency, ...others } = row;
  const { bands, bands_ms, stages_ms, ...rest } = others;
  return {
    ...rest,
    kind: ['', 'stage', 'driver', 'exemplar'][kind],
    latency: latency.count,
    censored_latency: censored_latency.count,
    ended_latency: ended_latency.count,
    bands: Object.fromEntries(bands),
    bands_ms: Object.fromEntries(bands_ms),
    stages_ms: Object.fromEntries(stages_ms),
  };
}

describe('a block of Native', () => {
  it('of a chunk has the rows in ClickHouse that were written', () =>
    withRig({ stack, name: 'native_chunk' }, async (rig) => {
      const chunk = new TestChunk({ dimensions, facets: ['host'] }).begin();
      const random = new SeededRandom(7);
      chunk.add(...randomEvents(random, 800, { fromMs: startMs, stepMs: 50, jitterMs: 20_000 }));
      const { bytes, rowCount } = encodeChunk(chunk.accumulator, origin, new ChunkBlock());
      await rig.client.command({ query: 'CREATE TABLE landed AS chunk_rows ENGINE = Memory' });
      const insert = `INSERT INTO landed (${chunkColumns.join(', ')}) FORMAT Native`;
      await sendBytes(rig.client, insert, bytes, {});
      const found = await rig.rows<Record<string, unknown>>(
        `SELECT * EXCEPT (only_table, inserted_at) REPLACE (
           toUnixTimestamp(window_start) AS window_start,
           toUnixTimestamp64Milli(event_time) AS event_time,
           hex(latency) AS latency, hex(censored_latency) AS censored_latency,
           hex(ended_latency) AS ended_latency)
         FROM landed SETTINGS output_format_json_quote_64bit_integers = 0`,
      );
      const written = decodeRows(bytes).map(asJson);
      expect(new Set(written.map(({ kind }) => kind)).size).toBe(3);
      expect(written.some(({ censored }) => Number(censored) > 0)).toBe(true);
      expect(found).toHaveLength(rowCount);
      const counted = found.map((row) => {
        const countOf = (state: unknown) =>
          decodeState(Buffer.from(String(state), 'hex')).digest.count;
        const { latency, censored_latency, ended_latency } = row;
        return {
          ...row,
          ...{ latency: countOf(latency), censored_latency: countOf(censored_latency) },
          ended_latency: countOf(ended_latency),
        };
      });
      expect(counted).toEqual(written);
    }));

  it('is stored for a user whose profile reads types of Native in another way', () =>
    withRig({ stack, name: 'native_profile' }, async (rig) => {
      const { url, database } = rig.config.clickhouse;
      const client = createClient({
        url,
        database,
        clickhouse_settings: { input_format_native_decode_types_in_binary_format: 1 },
      });
      const chunk = new TestChunk({ dimensions }).begin();
      chunk.add({ ts: startMs, model: 'm', total_ms: 2 });
      const rows = encodeChunk(chunk.accumulator, origin, new ChunkBlock());
      await new ClickHouseChunkStore(client, 'test').insert({
        ...fixture,
        rows,
      });
      await client.close();
      const [stored] = await rig.rows<{ n: string }>(
        'SELECT toString(sum(requests)) AS n FROM latency_10s',
      );
      expect(stored?.n).toBe('1');
    }));

  it.each([1, 256, 257, 65_536, 65_537])('of %i texts has each of them', (count) =>
    withRig({ stack, name: `native_${count}` }, async (rig) => {
      const names = new TextColumn();
      const maps = new MapColumn(new TextColumn());
      const numbers = new RowBinaryWriter(16);
      const text = (i: number) => Buffer.from(`é${i}`);
      for (let i = 0; i < count; i++) {
        names.add(names.placeOf(i, text(i)));
        maps.keys.add(maps.keys.placeOf(i, text(i)));
        maps.values.float64(i);
        maps.endRow(1);
        numbers.uint64(i);
      }
      // Rows of constants follow: of the last text, no entries, the last number.
      names.add(names.placeOf(count - 1, text(count - 1)), 10);
      maps.addEmpty(10);
      numbers.repeat(8, 10);
      const types = {
        name: 'LowCardinality(String)',
        entries: 'Map(LowCardinality(String), Float64)',
        number: 'UInt64',
      };
      await rig.client.command({
        query: `CREATE TABLE texts (${Object.entries(types)
          .map((each) => each.join(' '))
          .join(', ')}) ENGINE = Memory`,
      });
      const columns = { name: names, entries: maps, number: numbers };
      const bytes = nativeBlock(columns, types, count + 10);
      await sendBytes(rig.client, 'INSERT INTO texts FORMAT Native', bytes, {});
      const [found] = await rig.rows<Record<string, string>>(
        `SELECT toString(countIf(name = 'é' || toString(number))) AS named,
           toString(countIf(length(entries) = 1 AND entries[name] = number)) AS mapped,
           toString(countIf(empty(entries))) AS empty, toString(uniqExact(name)) AS names FROM texts`,
      );
      const of = (n: number) => String(n);
      expect(found).toEqual({
        named: of(count + 10),
        mapped: of(count),
        empty: '10',
        names: of(count),
      });
    }),
  );
});
