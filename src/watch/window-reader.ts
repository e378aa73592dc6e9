import type { ClickHouseClient } from '@clickhouse/client';
import { coldStartIndex } from '../base/dimensions.ts';
import type { Bands, Series, SeriesWindow, StageSummary } from '../baseline/series-window.ts';
import { rowBinaryOf } from '../sink/row-binary-of.ts';
import { RowBinaryReader } from '../sink/row-binary-reader.ts';
import { readState } from '../sketch/clickhouse-state.ts';
import { PackedDigests } from '../sketch/packed-digests.ts';
import { TDigest } from '../sketch/t-digest.ts';
import { KnownNames } from './known-names.ts';

/** A stage whose digest is made with those of its whole window. */
interface OpenStage extends StageSummary {
  digest: TDigest;
}

const unread = TDigest.fromCentroids([], []);
const names = new KnownNames();

/** Half-open range of window starts. */
export interface WindowRange {
  readonly fromMs: number;
  readonly toMs: number;
  readonly windowMs: number;
}

/**
 * Reads all series of a range of windows, in the order of their starts. Memory grows with the
 * answer (some 1.5 kB a series, stage and window): long ranges are read in pieces.
 */
export async function readWindows(
  client: ClickHouseClient,
  range: WindowRange,
): Promise<SeriesWindow[]> {
  const answer = await rowBinaryOf(client, 'series_windows', {
    windowSeconds: range.windowMs / 1000,
    fromSeconds: Math.floor(range.fromMs / 1000),
    toSeconds: Math.floor(range.toMs / 1000),
  });
  return decodeWindows(answer, range.windowMs);
}

/** Rows of sql/queries/series_windows.sql, ordered by window and series, to windows. */
export function decodeWindows(bytes: Buffer, windowMs: number): SeriesWindow[] {
  const reader = new RowBinaryReader(bytes);
  const windows: SeriesWindow[] = [];
  const packed = new PackedDigests();
  let stages = new Map<string, StageSummary>();
  let open: OpenStage[] = [];
  let openMs = Number.NaN;
  let openSeries: Series | undefined;
  const close = () => {
    const digests = packed.take();
    for (const [i, stage] of open.entries()) stage.digest = digests[i] as TDigest;
    open = [];
  };
  while (!reader.atEnd) {
    const windowStartMs = reader.uint32() * 1000;
    const series = seriesOf(reader);
    if (series !== openSeries || windowStartMs !== openMs) {
      close();
      openSeries = series;
      openMs = windowStartMs;
      stages = new Map();
      windows.push({ windowStartMs, windowMs, series, stages });
    }
    const summary = readSummary(reader, packed);
    open.push(summary);
    stages.set(summary.stage, summary);
  }
  close();
  return windows;
}

/** The series of a row, the same object in each: it is read where it is new. */
function seriesOf(reader: RowBinaryReader): Series {
  const from = reader.at;
  for (let text = 0; text < coldStartIndex; text++) reader.skipString();
  reader.uint8();
  return names.series(reader.bytes, from, reader.at, () => {
    reader.at = from;
    return readSeries(reader);
  });
}

function readSeries(reader: RowBinaryReader): Series {
  return {
    service: reader.string(),
    model: reader.string(),
    version: reader.string(),
    request_type: reader.string(),
    region: reader.string(),
    host: reader.string(),
    tenant: reader.string(),
    cold_start: reader.uint8() === 1,
  };
}

function readSummary(reader: RowBinaryReader, digests: PackedDigests): OpenStage {
  const stageFrom = reader.skipString();
  const stage = names.text(reader.bytes, stageFrom, reader.at);
  const requests = reader.uint64();
  const errors = reader.uint64();
  const timeouts = reader.uint64();
  const cancelled = reader.uint64();
  const sumMs = reader.float64();
  const minMs = reader.float64();
  const maxMs = reader.float64();
  reader.at = readState(reader.bytes, reader.at, digests);
  const bands = readBands(reader);
  const bandsMs = readBands(reader);
  const counts = { requests, errors, timeouts, cancelled };
  return { stage, ...counts, sumMs, minMs, maxMs, digest: unread, bands, bandsMs };
}

/** A Map(Int16, Float64); ClickHouse keeps sumMap's keys in ascending order. */
function readBands(reader: RowBinaryReader): Bands {
  const size = reader.varUint();
  const bands: number[] = [];
  const amounts: number[] = [];
  for (let i = 0; i < size; i++) {
    bands.push(reader.int16());
    amounts.push(reader.float64());
  }
  return { bands, amounts };
}
