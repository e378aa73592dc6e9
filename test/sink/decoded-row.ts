import { dimensions } from '../../src/base/dimensions.ts';
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

type Read = (reader: RowBinaryReader) => unknown;

const text: Read = (reader) => reader.string();
const uint64: Read = (reader) => reader.uint64();
const float64: Read = (reader) => reader.float64();

/** Reader of each column's type in sql/0015_landings.sql. */
const readers: Readonly<Record<string, Read>> = {
  ...Object.fromEntries(dimensions.map((name) => [name, text])),
  kind: (reader) => reader.uint8(),
  window_start: (reader) => reader.uint32(),
  cold_start: (reader) => reader.uint8() === 1,
  stage: text,
  requests: uint64,
  errors: uint64,
  timeouts: uint64,
  cancelled: uint64,
  sum_ms: float64,
  min_ms: float64,
  max_ms: float64,
  latency: (reader) => {
    const { digest, next } = decodeState(reader.bytes, reader.at);
    reader.at = next;
    return digest;
  },
  bands: (reader) => mapOf(reader, () => reader.int16()),
  bands_ms: (reader) => mapOf(reader, () => reader.int16()),
  facet: text,
  value: text,
  event_time: uint64,
  status: text,
  trace_id: text,
  request_id: text,
  stages_ms: (reader) => mapOf(reader, () => reader.string()),
  group_id: text,
  topic: text,
  partition: (reader) => reader.uint32(),
  start_offset: uint64,
  log_mark: uint64,
  chunk_mark: uint64,
};

/** Every row of a block, column by column in the order of `chunkColumns`, to the last byte. */
export function decodeRows(bytes: Buffer): DecodedRow[] {
  const reader = new RowBinaryReader(bytes);
  const rows: DecodedRow[] = [];
  while (!reader.atEnd) {
    const row: Record<string, unknown> = {};
    for (const column of chunkColumns) {
      const read = readers[column];
      if (read === undefined) throw new Error(`no reader of column ${column}`);
      row[column] = read(reader);
    }
    rows.push(row as unknown as DecodedRow);
  }
  return rows;
}

function mapOf<K>(reader: RowBinaryReader, key: () => K): Map<K, number> {
  const size = reader.varUint();
  return new Map(Array.from({ length: size }, () => [key(), reader.float64()]));
}
