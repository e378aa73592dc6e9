import type { Interner } from '../decode/interner.ts';
import type { Bands, StageSummary } from '../series/series-window.ts';
import { bandRange } from '../sketch/band.ts';
import { PackedDigests } from '../sketch/packed-digests.ts';
import { stateCentroids } from '../sketch/sketch-pool.ts';
import type { TDigest } from '../sketch/t-digest.ts';
import { type ChunkAccumulator, totalMsColumn } from '../window/chunk-accumulator.ts';

const means = new Float64Array(stateCentroids);
const weights = new Float64Array(stateCentroids);
const bandNumbers = new Int16Array(bandRange.count);
const bandAmounts = new Float64Array(bandRange.count);
const packed = new PackedDigests();

/** Summary of a chunk's row, as the detector would read it from the tables. */
export function stageSummary(chunk: ChunkAccumulator, row: number, names: Interner): StageSummary {
  const { rows, sketches, bands, totalStageId } = chunk;
  const cell = rows.cell(row);
  const stageId = rows.stageId(row);
  const read = (column: number): Bands => {
    const n = bands.read(cell, column, bandNumbers, bandAmounts);
    return { bands: [...bandNumbers.subarray(0, n)], amounts: [...bandAmounts.subarray(0, n)] };
  };
  packed.add(means, weights, sketches.centroids(row, means, weights));
  const [digest] = packed.drain() as [TDigest];
  return {
    stage: names.text(stageId),
    requests: sketches.requests(row),
    errors: rows.statusCount(row, 1),
    timeouts: rows.statusCount(row, 2),
    cancelled: rows.statusCount(row, 3),
    sumMs: sketches.sumUs(row) / 1000,
    minMs: sketches.minMs(row),
    maxMs: sketches.maxMs(row),
    digest,
    bands: read(rows.column(row)),
    bandsMs: stageId === totalStageId ? read(totalMsColumn) : { bands: [], amounts: [] },
  };
}
