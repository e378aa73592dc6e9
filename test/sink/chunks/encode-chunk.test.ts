// Covers src/sink/chunks/chunk-block.ts, src/sink/chunks/chunk-marks.ts,
// src/sink/chunks/row-order.ts, src/sink/native/map-column.ts and src/sink/native/text-column.ts.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dimensions } from '../../../src/base/dimensions.ts';
import { ChunkBlock } from '../../../src/sink/chunks/chunk-block.ts';
import { chunkColumns, chunkColumnTypes } from '../../../src/sink/chunks/chunk-columns.ts';
import { logMarkOf } from '../../../src/sink/chunks/chunk-marks.ts';
import { encodeChunk } from '../../../src/sink/chunks/encode-chunk.ts';
import { bandBits, digestBits, shortMs } from '../../../src/sketch/short-ms.ts';
import { SeededRandom } from '../../base/seeded-random.ts';
import { randomEvents } from '../../window/random-events.ts';
import { TestChunk } from '../../window/test-chunk.ts';
import { type DecodedRow, decodeRows } from '../decoded-row.ts';

const startMs = 1_790_000_000_000;
const origin = {
  groupId: 'tailmark',
  topic: 'inference.timings.v1',
  partition: 3,
  logId: 'c/t',
  startOffset: 2 ** 40 + 5,
  nowMs: startMs,
};
const block = new ChunkBlock();

function encode(chunk: TestChunk) {
  return encodeChunk(chunk.accumulator, origin, block);
}

/** Milliseconds by band, as they are stored. */
function shortened(bands: ReadonlyMap<number, number> | undefined): Map<number, number> {
  return new Map([...(bands ?? [])].map(([band, ms]) => [band, shortMs(ms, bandBits)]));
}

describe('encodeChunk', () => {
  it('writes the columns of the table, in its order', () => {
    const read = (name: string) =>
      readFileSync(new URL(`../../../sql/${name}.sql`, import.meta.url), 'utf8');
    const table = /CREATE OR REPLACE TABLE chunk_rows\n\(\n([\s\S]*?)\n\)/.exec(
      read('0015_landings'),
    );
    const columns = [...(table?.[1] ?? '').matchAll(/^ {4}(\w+) +(.+),$/gm)].map(
      ([, name = '', type = '']) => [name, type] as const,
    );
    const added = ['0024_attributes', '0025_censored', '0026_ended']
      .flatMap((name) => read(name).match(/ALTER TABLE chunk_rows\s([\s\S]*?);/)?.[1] ?? [])
      .join(',\n');
    const later = /ADD COLUMN IF NOT EXISTS (\w+) (.+) AFTER (\w+),?$/gm;
    for (const [, name = '', type = '', before = ''] of added.matchAll(later)) {
      columns.splice(columns.findIndex(([known]) => known === before) + 1, 0, [name, type]);
    }
    const { only_table: _, ...types } = Object.fromEntries(columns);
    expect(chunkColumns).toEqual(Object.keys(types));
    expect(chunkColumnTypes).toEqual(types);
  });

  it.each([1, 2, 3])('writes stage rows in the order of the tables’ keys: seed %i', (seed) => {
    const random = new SeededRandom(seed);
    const chunk = new TestChunk({ dimensions }).begin();
    chunk.add(...randomEvents(random, 800, { fromMs: startMs, stepMs: 50, jitterMs: 20_000 }));
    const stageRows = decodeRows(encode(chunk).bytes).filter((row) => row.kind === 1);
    const keys = stageRows.map((row) => [
      ...[row.model, row.stage, row.version, row.request_type, row.region, row.service],
      ...[row.tenant, row.host, row.cold_start, row.window_start],
    ]);
    const compare = (a: (typeof keys)[0], b: (typeof keys)[0]) => {
      const at = a.findIndex((part, i) => part !== b[i]);
      const [left, right] = [a[at] ?? 0, b[at] ?? 0];
      return typeof left === 'string'
        ? Buffer.from(left).compare(Buffer.from(String(right)))
        : Number(left) - Number(right);
    };
    expect(new Set(keys.map((key) => key[0])).size).toBeGreaterThan(1);
    expect(new Set(keys.map((key) => key[9])).size).toBeGreaterThan(1);
    expect(keys).toEqual(keys.toSorted(compare));
  });

  it.each([1, 2, 3])('can be read back row by row, with the reported counts: seed %i', (seed) => {
    const random = new SeededRandom(seed);
    const chunk = new TestChunk({ dimensions }).begin();
    chunk.add(...randomEvents(random, 800, { fromMs: startMs, stepMs: 50, jitterMs: 20_000 }));
    const encoded = encode(chunk);
    const rows = decodeRows(encoded.bytes);
    expect(rows).toHaveLength(encoded.rowCount);
    const stageRows = rows.filter((row) => row.kind === 1);
    expect(encoded.samples).toBe(stageRows.reduce((sum, row) => sum + row.requests, 0));
    const windows = stageRows.map((row) => row.window_start * 1000);
    expect(encoded.windowMinMs).toBe(Math.min(...windows));
    expect(encoded.windowMaxMs).toBe(Math.max(...windows));
    for (const row of rows) {
      expect(row).toMatchObject({
        group_id: 'tailmark',
        topic: origin.topic,
        partition: 3,
        log_mark: logMarkOf('c/t'),
        start_offset: 2 ** 40 + 5,
      });
    }
    const expected = chunk.rows();
    expect(stageRows.map(keyOf).sort()).toEqual([...expected.keys()].sort());
    for (const row of stageRows) {
      const truth = expected.get(keyOf(row));
      expect(row).toMatchObject({
        requests: truth?.requests,
        errors: truth?.errors,
        timeouts: truth?.timeouts,
        cancelled: truth?.cancelled,
        sum_ms: (truth?.sumUs ?? 0) / 1000,
        min_ms: truth?.minMs,
        max_ms: truth?.maxMs,
        bands: row.stage === 'total' ? truth?.bands : shortened(truth?.bands),
        bands_ms: shortened(truth?.bandsMs),
        facet: '',
        value: '',
        event_time: 0,
        status: '',
        trace_id: '',
        request_id: '',
        stages_ms: new Map(),
        censored: truth?.censored,
      });
      expect(row.latency.count).toBe(truth?.requests);
      expect(row.censored_latency.count).toBe(truth?.censored);
      const isMixed = row.censored > 0;
      expect(row.ended_latency.count).toBe(isMixed ? row.requests - row.censored : 0);
      const means = [...row.latency.means];
      expect(means).toEqual(means.map((ms) => shortMs(ms, digestBits)));
    }
  });

  it('is the same bytes for the same events, also after another chunk', () => {
    const events = randomEvents(new SeededRandom(4), 500, {
      fromMs: startMs,
      stepMs: 50,
      jitterMs: 0,
    });
    const chunk = new TestChunk().begin();
    chunk.add(...events);
    const { bytes } = encode(chunk);
    chunk.begin().add(
      ...randomEvents(new SeededRandom(5), 700, {
        fromMs: startMs,
        stepMs: 10,
        jitterMs: 0,
      }),
    );
    encode(chunk);
    chunk.begin().add(...events);
    expect(encode(chunk).bytes.equals(bytes)).toBe(true);
  });

  it('of no events is empty', () => {
    const encoded = encode(new TestChunk().begin());
    expect(decodeRows(encoded.bytes)).toEqual([]);
    expect(encoded).toMatchObject({
      rowCount: 0,
      samples: 0,
      windowMinMs: 0,
      windowMaxMs: 0,
      days: { stage: [], driver: [], exemplar: [] },
    });
  });

  it('marks the first row of each kind and day, the same in every process', () => {
    const make = (from: Partial<typeof origin> = {}) => {
      const chunk = new TestChunk({ facets: ['host'] }).begin();
      for (const ts of [startMs - 86_400_000, startMs, startMs + 20_000]) {
        chunk.add({ ts, model: 'm', host: 'pod-1', total_ms: 2, trace_id: 'a' });
      }
      return encodeChunk(chunk.accumulator, { ...origin, ...from }, block);
    };
    const { bytes, mark, days } = make();
    const marked = decodeRows(bytes).filter(({ chunk_mark }) => chunk_mark !== 0);
    const day = Math.floor(startMs / 86_400_000);
    expect(marked.map((row) => [row.kind, Math.floor(row.window_start / 86_400)])).toEqual([
      [1, day - 1],
      [1, day],
      [2, day - 1],
      [2, day],
      [3, day - 1],
      [3, day],
    ]);
    expect(new Set(marked.map((row) => row.chunk_mark))).toEqual(new Set([mark]));
    const both = [day - 1, day];
    expect(days).toEqual({ stage: both, driver: both, exemplar: both });
    expect(make().mark).toBe(mark);
    const others = [
      { startOffset: 7 },
      { partition: 4 },
      { topic: 'u' },
      { logId: 'c/u' },
      { nowMs: 1 },
    ];
    const marks = others.map((other) => make(other).mark);
    expect(new Set([mark, ...marks]).size).toBe(6);
  });

  it('writes a driver row a facet, at its minute', () => {
    const chunk = new TestChunk({ facets: ['host', 'batch_size'] }).begin();
    const event = { ts: startMs + 61_234, model: 'm', version: '7', region: 'eu', total_ms: 2 };
    chunk.add({ ...event, host: 'pod-1', batch_size: 9 }, { ...event, host: 'pod-1' });
    const drivers = decodeRows(encode(chunk).bytes).filter((row) => row.kind === 2);
    const minute = Math.floor((startMs + 61_234) / 60_000) * 60;
    const common = { window_start: minute, model: 'm', version: '7', region: '', stage: '' };
    const bands = (requests: number) => new Map([[4, requests]]);
    expect(drivers).toMatchObject([
      { ...common, facet: 'host', value: 'pod-1', requests: 2, bands: bands(2) },
      { ...common, facet: 'batch_size', value: '8-15', requests: 1, bands: bands(1) },
    ]);
  });

  it('writes facet values beyond their limit as __other__', () => {
    const chunk = new TestChunk({ facets: ['host'] }).begin();
    for (let i = 0; i < 130; i++) {
      chunk.add({ ts: startMs, model: 'm', host: `pod-${i}`, total_ms: 1 });
    }
    const drivers = decodeRows(encode(chunk).bytes).filter((row) => row.kind === 2);
    expect(drivers).toHaveLength(129);
    expect(drivers.at(-1)).toMatchObject({ value: '__other__', requests: 2 });
  });

  it('writes the slowest requests whole, with the host where that is no dimension', () => {
    const chunk = new TestChunk({ dimensions: ['model'], facets: [] }).begin();
    const stages_ms = { queue: 1.5, forward: 20 };
    chunk.add({
      ts: startMs + 7,
      model: 'm',
      host: 'pod-9',
      id: 'r-1',
      trace_id: 'größe',
      status: 'timeout',
      stages_ms,
    });
    const exemplars = decodeRows(encode(chunk).bytes).filter((row) => row.kind === 3);
    expect(exemplars).toMatchObject([
      {
        window_start: startMs / 1000,
        host: 'pod-9',
        stage: '',
        requests: 1,
        sum_ms: 21.5,
        event_time: startMs + 7,
        status: 'timeout',
        trace_id: 'größe',
        request_id: 'r-1',
        stages_ms: new Map(Object.entries(stages_ms)),
      },
    ]);
  });
});

function keyOf(row: DecodedRow): string {
  const values = dimensions.map((name) => {
    if (name === 'cold_start') return row.cold_start ? '1' : '';
    return row[name];
  });
  return [row.window_start * 1000, ...values, row.stage].join('|');
}
