import type { ClickHouseClient } from '@clickhouse/client';
import { dayMs, hourMs } from '../../base/time.ts';
import { type HourTail, rememberedMs } from '../../baseline/hourly-tails.ts';
import type { SeriesHour } from '../../detect/drift/drift-detectors.ts';
import type { Series } from '../../series/series-window.ts';
import { wholeRequest } from '../../series/whole-request.ts';
import { decodeState } from '../../sketch/clickhouse-state.ts';
import type { TDigest } from '../../sketch/t-digest.ts';
import { rowBinaryOf } from '../row-binary/row-binary-of.ts';
import { RowBinaryReader } from '../row-binary/row-binary-reader.ts';
import { eachPiece } from './each-piece.ts';
import { readSeries } from './window-decoder.ts';
import { firstWindowMs } from './window-range.ts';

/** One stage in an hour of a series. */
interface StageHour {
  readonly stage: string;
  readonly requests: number;
  readonly sumMs: number;
  readonly digest: TDigest;
}

/**
 * Reads the hours of series, all versions together, in the eight days before a time: oldest first, in pieces.
 * Hours with incidents are included.
 *
 * @param seriesLimit number of series: those with the most requests on the last day.
 */
export async function* readHours(
  client: ClickHouseClient,
  untilMs: number,
  quantiles: readonly number[],
  seriesLimit: number,
): AsyncGenerator<SeriesHour[], void> {
  const toMs = Math.floor(untilMs / hourMs) * hourMs;
  const range = { fromMs: Math.max(0, toMs - rememberedMs), toMs, windowMs: hourMs };
  const firstMs = await firstWindowMs(client, 'latency_1h', range);
  if (firstMs === undefined) return;
  const stored = { ...range, fromMs: firstMs };
  yield* eachPiece(stored, 'one hour of all series', async (fromMs, endMs) => {
    const rows = await rowBinaryOf(client, 'hourly_tails', {
      fromSeconds: fromMs / 1000,
      toSeconds: endMs / 1000,
      rankedFromSeconds: Math.max(0, toMs - dayMs) / 1000,
      rankedToSeconds: toMs / 1000,
      seriesLimit,
    });
    return decodeHours(rows, quantiles);
  });
}

/** Decodes rows of sql/queries/hourly_tails.sql, ordered by hour and series. */
function decodeHours(bytes: Buffer, quantiles: readonly number[]): SeriesHour[] {
  const reader = new RowBinaryReader(bytes);
  const hours: SeriesHour[] = [];
  let open:
    | { key: string; startMs: number; series: Series; stages: Map<string, StageHour> }
    | undefined;
  const close = () => {
    if (open === undefined) return;
    const { series, startMs, stages } = open;
    hours.push({ series, hour: hourOf(startMs, stages, quantiles) });
  };
  while (!reader.atEnd) {
    const startMs = reader.uint32() * 1000;
    const series = readSeries(reader, false);
    const key = `${startMs}\u0000${Object.values(series).join('\u0000')}`;
    const stage = readStage(reader);
    if (open?.key !== key) {
      close();
      open = { key, startMs, series, stages: new Map() };
    }
    open.stages.set(stage.stage, stage);
  }
  close();
  return hours;
}

function readStage(reader: RowBinaryReader): StageHour {
  const stage = reader.string();
  const requests = reader.uint64();
  const sumMs = reader.float64();
  const { digest, next } = decodeState(reader.bytes, reader.at);
  reader.at = next;
  return { stage, requests, sumMs, digest };
}

function hourOf(
  startMs: number,
  stages: ReadonlyMap<string, StageHour>,
  quantiles: readonly number[],
): HourTail {
  const { stage, requests, digest } = wholeRequest({ stages }) as StageHour;
  return {
    startMs,
    stage,
    requests,
    quantilesMs: quantiles.map((q) => digest.quantile(q)),
    meansMs: new Map([...stages].map(([name, { sumMs }]) => [name, sumMs / Math.max(1, requests)])),
  };
}
