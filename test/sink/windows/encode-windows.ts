import type { Bands, SeriesWindow } from '../../../src/series/series-window.ts';
import { RowBinaryWriter } from '../../../src/sink/row-binary/row-binary-writer.ts';
import { encodeState, maxStateBytes } from '../../../src/sketch/clickhouse-state.ts';
import { TDigest } from '../../../src/sketch/t-digest.ts';

const noBands: Bands = { bands: [], amounts: [] };

/** Windows as ClickHouse returns them for sql/queries/series_windows.sql. */
export function encodeWindows(windows: readonly SeriesWindow[]): Buffer {
  const writer = new RowBinaryWriter();
  for (const { windowStartMs, series, stages, objectives = new Map() } of windows) {
    const rows = [...stages.values()];
    for (const [row, { requests, bad }] of objectives) {
      const none = { errors: 0, timeouts: 0, cancelled: 0, minMs: 0, maxMs: 1, bandsMs: noBands };
      const digest = TDigest.fromValues([0, 1], 51);
      rows.push({ ...none, stage: row, requests, sumMs: bad, digest, bands: noBands });
    }
    for (const summary of rows.toSorted((a, b) => (a.stage < b.stage ? -1 : 1))) {
      writer.uint32(windowStartMs / 1000);
      const { cold_start, ...texts } = series;
      for (const text of [
        texts.service,
        texts.model,
        texts.version,
        texts.request_type,
        texts.region,
        texts.host,
        texts.tenant,
      ]) {
        writer.string(text);
      }
      writer.uint8(cold_start ? 1 : 0);
      writer.string(texts.attributes ?? '');
      writer.string(summary.stage);
      const { requests, errors, timeouts, cancelled } = summary;
      for (const count of [requests, errors, timeouts, cancelled]) writer.uint64(count);
      for (const ms of [summary.sumMs, summary.minMs, summary.maxMs]) writer.float64(ms);
      const { means, weights, size } = summary.digest;
      writer.raw(maxStateBytes, (out, at) => encodeState(means, weights, size, out, at));
      writeBands(summary.bands, writer);
      writeBands(summary.bandsMs, writer);
    }
  }
  return writer.copy();
}

function writeBands({ bands, amounts }: Bands, writer: RowBinaryWriter): void {
  writer.varUint(bands.length);
  bands.forEach((band, i) => {
    writer.int16(band);
    writer.float64(amounts[i] ?? 0);
  });
}
