import { chunkColumns } from '../../src/sink/chunks/chunk-columns.ts';
import { RowBinaryReader } from '../../src/sink/row-binary/row-binary-reader.ts';
import { decodeState } from '../../src/sketch/clickhouse-state.ts';
import type { TDigest } from '../../src/sketch/t-digest.ts';

/** A row of `chunk_rows` as ClickHouse would read it. */
export interface DecodedRow {
  readonly kind: number;
  readonly window_start: number;
  readonly service: string;
  readonly model: string;
  readonly version: string;
  readonly request_type: string;
  readonly region: string;
  readonly host: string;
  readonly tenant: string;
  readonly cold_start: boolean;
  readonly attributes: string;
  readonly stage: string;
  readonly requests: number;
  readonly errors: number;
  readonly timeouts: number;
  readonly cancelled: number;
  readonly sum_ms: number;
  readonly min_ms: number;
  readonly max_ms: number;
  readonly latency: TDigest;
  readonly bands: ReadonlyMap<number, number>;
  readonly bands_ms: ReadonlyMap<number, number>;
  readonly censored: number;
  readonly censored_latency: TDigest;
  readonly ended_latency: TDigest;
  readonly facet: string;
  readonly value: string;
  readonly event_time: number;
  readonly status: string;
  readonly trace_id: string;
  readonly request_id: string;
  readonly stages_ms: ReadonlyMap<string, number>;
  readonly group_id: string;
  readonly topic: string;
  readonly partition: number;
  readonly log_mark: number;
  readonly start_offset: number;
  readonly chunk_mark: number;
}

/** Bytes of a column of Native, read value by value. */
type ReadColumn = (reader: RowBinaryReader, rows: number) => unknown[];

const each =
  (read: (reader: RowBinaryReader) => unknown): ReadColumn =>
  (reader, rows) =>
    Array.from({ length: rows }, () => read(reader));

/** LowCardinality(String): nothing at all without rows. */
const texts: ReadColumn = (reader, rows) => {
  if (rows === 0) return [];
  const flags = reader.uint64();
  // Keys of the block's own, which replace those before it.
  if (flags >> 8 !== 6) throw new Error(`a dictionary with flags ${flags}`);
  const keys = Array.from({ length: reader.uint64() }, () => reader.string());
  if (reader.uint64() !== rows) throw new Error('a dictionary of other rows');
  const width = 2 ** (flags & 0xff);
  return Array.from({ length: rows }, () => {
    const place = reader.readBytes(width).readUIntLE(0, width);
    if (place >= keys.length) throw new Error(`place ${place} of ${keys.length}`);
    return keys[place];
  });
};

const mapOf =
  (readKeys: ReadColumn): ReadColumn =>
  (reader, rows) => {
    const ends = Array.from({ length: rows }, () => reader.uint64());
    const keys = readKeys(reader, ends.at(-1) ?? 0);
    const values = keys.map(() => reader.float64());
    return ends.map((end, row) => {
      const from = row === 0 ? 0 : (ends[row - 1] as number);
      const entries = keys.slice(from, end).map((key, i) => [key, values[from + i]] as const);
      return new Map(entries);
    });
  };

const int16 = each((reader) => reader.int16());
const state = each((reader) => {
  const { digest, next } = decodeState(reader.bytes, reader.at);
  reader.at = next;
  return digest;
});

/** How a column of each type is read (https://clickhouse.com/docs/interfaces/formats/Native). */
const readers: Readonly<Record<string, ReadColumn>> = {
  "Enum8('stage' = 1, 'driver' = 2, 'exemplar' = 3)": each((reader) => reader.uint8()),
  "DateTime('UTC')": each((reader) => reader.uint32()),
  "DateTime64(3, 'UTC')": each((reader) => reader.uint64()),
  Bool: each((reader) => reader.uint8() === 1),
  UInt32: each((reader) => reader.uint32()),
  UInt64: each((reader) => reader.uint64()),
  Float64: each((reader) => reader.float64()),
  String: each((reader) => reader.string()),
  'LowCardinality(String)': texts,
  'Map(Int16, Float64)': mapOf(int16),
  'Map(LowCardinality(String), Float64)': mapOf(texts),
  'AggregateFunction(quantilesTDigest(0.5, 0.9, 0.95, 0.99, 0.999), Float32)': state,
};

/** Every row of a block of Native that has the columns of `chunkColumns`, to the last byte. */
export function decodeRows(bytes: Buffer): DecodedRow[] {
  const reader = new RowBinaryReader(bytes);
  const names: string[] = [];
  const columns = reader.varUint();
  const rows = Array.from({ length: reader.varUint() }, () => ({}) as Record<string, unknown>);
  for (let column = 0; column < columns; column++) {
    const name = reader.string();
    const type = reader.string();
    if (type.includes('LowCardinality') && reader.uint64() !== 1) throw new Error('no version 1');
    const read = readers[type];
    if (read === undefined) throw new Error(`no reader of ${name} ${type}`);
    read(reader, rows.length).forEach((value, row) => {
      (rows[row] as Record<string, unknown>)[name] = value;
    });
    names.push(name);
  }
  if (names.join() !== chunkColumns.join()) throw new Error(`other columns: ${names.join()}`);
  if (!reader.atEnd) throw new Error('bytes after the block');
  return rows as unknown as DecodedRow[];
}
