import { coldStartIndex, dimensions, overflowValue } from '../../base/dimensions.ts';
import { statuses } from '../../base/statuses.ts';
import { bandRange } from '../../sketch/band.ts';
import { encodeState, maxStateBytes } from '../../sketch/clickhouse-state.ts';
import { bandBits, digestBits, shortMs } from '../../sketch/short-ms.ts';
import {
  baseWindowMs,
  type ChunkAccumulator,
  totalMsColumn,
} from '../../window/chunk-accumulator.ts';
import type { Exemplar } from '../../window/exemplar-store.ts';
import type { MapColumn } from '../native/map-column.ts';
import type { RowBinaryWriter } from '../row-binary/row-binary-writer.ts';
import { type ChunkBlock, type TextDimension, textDimensions } from './chunk-block.ts';
import {
  ChunkMarks,
  type DaysOfRows,
  logMarkOf,
  type MarkedChunk,
  type RowKind,
  rowKinds,
} from './chunk-marks.ts';
import { rowOrder } from './row-order.ts';

export interface EncodedChunk {
  readonly bytes: Buffer;
  readonly rowCount: number;
  /** Sum of `requests` over the stage rows. */
  readonly samples: number;
  /** First and last window, milliseconds; 0 for a chunk without rows. */
  readonly windowMinMs: number;
  readonly windowMaxMs: number;
  /** By this mark a table shows that it has the chunk. */
  readonly mark: number;
  readonly days: DaysOfRows;
}

const baseWindowSeconds = baseWindowMs / 1000;
const overflowBytes = Buffer.from(overflowValue);
const statusBytes = statuses.map((status) => Buffer.from(status));
const EMPTY = Buffer.alloc(0);
/** Its multiples are spread evenly over [0, 1). */
const GOLDEN = 0.618033988749895;
const hostIndex = dimensions.indexOf('host');

const means = new Float64Array(4096);
const weights = new Float64Array(4096);
const bandNumbers = new Int16Array(bandRange.count);
const bandAmounts = new Float64Array(bandRange.count);

/**
 * Encodes a chunk's rows as one block of Native: stage rows in the order of the tables' keys, then drivers,
 * then exemplars. Synchronous, so that the accumulator is free at once. Costs 1 to 3 µs a row. A stage row
 * has 0.15 kB and 8 bytes a centroid.
 */
export function encodeChunk(
  chunk: ChunkAccumulator,
  origin: MarkedChunk,
  block: ChunkBlock,
): EncodedChunk {
  block.reset();
  const marks = new ChunkMarks(origin);
  let windowMin = Number.POSITIVE_INFINITY;
  let windowMax = Number.NEGATIVE_INFINITY;
  for (let cell = 0; cell < chunk.cellCount; cell++) {
    windowMin = Math.min(windowMin, chunk.cellWindow(cell));
    windowMax = Math.max(windowMax, chunk.cellWindow(cell));
  }
  const places = placesOfCells(chunk, block);
  const samples = addStages(chunk, block, marks, places);
  addDrivers(chunk, block, marks);
  const exemplarCount = addExemplars(chunk, block, marks, places);
  const rowCount = chunk.rows.size + chunk.drivers.size + exemplarCount;
  addOrigin(origin, block, rowCount);
  const empty = chunk.cellCount === 0;
  return {
    bytes: block.encode(rowCount),
    rowCount,
    samples,
    windowMinMs: empty ? 0 : windowMin * baseWindowMs,
    windowMaxMs: empty ? 0 : windowMax * baseWindowMs,
    mark: marks.mark,
    days: marks.days,
  };
}

/** Adds the stage rows; returns the sum of their requests. */
function addStages(
  chunk: ChunkAccumulator,
  block: ChunkBlock,
  marks: ChunkMarks,
  places: Int32Array,
): number {
  const { rows, sketches, stages, bands, totalStageId } = chunk;
  let samples = 0;
  for (const row of rowOrder(chunk)) {
    const cell = rows.cell(row);
    const stageId = rows.stageId(row);
    const isTotal = stageId === totalStageId;
    const requests = sketches.requests(row);
    samples += requests;
    addCell(chunk, block, cell, places);
    block.stage.add(block.stage.placeOf(stageId, stages.utf8(stageId)));
    block.requests.uint64(requests);
    block.errors.uint64(rows.statusCount(row, 1));
    block.timeouts.uint64(rows.statusCount(row, 2));
    block.cancelled.uint64(rows.statusCount(row, 3));
    block.sumMs.float64(sketches.sumUs(row) / 1000);
    block.minMs.float64(sketches.minMs(row));
    block.maxMs.float64(sketches.maxMs(row));
    const n = sketches.centroids(row, means, weights, phaseOf(marks.mark, row));
    shorten(means, n, digestBits);
    block.latency.raw(maxStateBytes, (bytes, at) => encodeState(means, weights, n, bytes, at));
    const count = bands.read(cell, rows.column(row), bandNumbers, bandAmounts);
    // Of the total they are requests.
    if (!isTotal) shorten(bandAmounts, count, bandBits);
    addBands(block.bands, count);
    const msCount = isTotal ? bands.read(cell, totalMsColumn, bandNumbers, bandAmounts) : 0;
    shorten(bandAmounts, msCount, bandBits);
    addBands(block.bandsMs, msCount);
    addCensored(chunk, block, row, phaseOf(marks.mark, row));
    block.chunkMark.uint64(marks.next('stage', cellSeconds(chunk, cell)));
  }
  addKind(block, 'stage', rows.size);
  addNoFacets(block, rows.size);
  addNoExemplars(block, rows.size);
  return samples;
}

/**
 * Adds the censored durations of a row, of full precision: they are few, and a bound must not be rounded up. Where there
 * are some, adds those of the requests that ended too.
 */
function addCensored(
  { censored, sketches }: ChunkAccumulator,
  block: ChunkBlock,
  row: number,
  phase: number,
): void {
  const requests = censored.requests(row);
  block.censored.uint64(requests);
  if (requests === 0) {
    block.censoredLatency.zeros(1);
    block.endedLatency.zeros(1);
    return;
  }
  const n = censored.centroids(row, means, weights, phase);
  block.censoredLatency.raw(maxStateBytes, (bytes, at) =>
    encodeState(means, weights, n, bytes, at),
  );
  const ended = censored.ended(row, sketches, means, weights, phase);
  shorten(means, ended, digestBits);
  block.endedLatency.raw(maxStateBytes, (bytes, at) =>
    encodeState(means, weights, ended, bytes, at),
  );
}

function addDrivers(chunk: ChunkAccumulator, block: ChunkBlock, marks: ChunkMarks): void {
  const { drivers, values } = chunk;
  for (let row = 0; row < drivers.size; row++) {
    block.windowStart.uint32(drivers.minute(row) * 60);
    for (const name of textDimensions) {
      const column = block.texts[name];
      const id =
        name === 'model' ? drivers.modelId(row) : name === 'version' ? drivers.versionId(row) : 0;
      column.add(column.placeOf(id, values.utf8(id)));
    }
    const count = drivers.readBands(row, bandNumbers, bandAmounts);
    block.requests.uint64(sumOf(bandAmounts, count));
    addBands(block.bands, count);
    const facet = drivers.facet(row);
    block.facet.add(block.facet.placeOf(facet, Buffer.from(facet)));
    const value = drivers.value(row, (id) => values.text(id));
    if (value === '') block.value.utf8(overflowBytes);
    else block.value.string(value);
    block.chunkMark.uint64(marks.next('driver', drivers.minute(row) * 60));
  }
  addKind(block, 'driver', drivers.size);
  block.coldStart.zeros(drivers.size);
  block.attributes.add(block.attributes.placeOf(0, EMPTY), drivers.size);
  addNoStages(block, drivers.size);
  for (const column of [block.sumMs, block.minMs, block.maxMs]) column.zeros(8 * drivers.size);
  block.bandsMs.addEmpty(drivers.size);
  addNoExemplars(block, drivers.size);
}

/** Adds the exemplars; returns their number. */
function addExemplars(
  chunk: ChunkAccumulator,
  block: ChunkBlock,
  marks: ChunkMarks,
  places: Int32Array,
): number {
  let count = 0;
  for (const exemplar of chunk.exemplars.all()) {
    addCell(chunk, block, exemplar.cell, places, exemplar.hostId);
    block.requests.uint64(1);
    for (const column of [block.sumMs, block.minMs, block.maxMs]) column.float64(exemplar.totalMs);
    addExemplar(chunk, block, exemplar);
    block.chunkMark.uint64(marks.next('exemplar', cellSeconds(chunk, exemplar.cell)));
    count++;
  }
  addKind(block, 'exemplar', count);
  addNoStages(block, count);
  block.bands.addEmpty(count);
  block.bandsMs.addEmpty(count);
  addNoFacets(block, count);
  return count;
}

function addExemplar(chunk: ChunkAccumulator, block: ChunkBlock, exemplar: Exemplar): void {
  const { status, stagesMs } = block;
  block.eventTime.uint64(exemplar.tsMs);
  status.add(status.placeOf(exemplar.status, statusBytes[exemplar.status] ?? EMPTY));
  block.traceId.string(exemplar.traceId);
  block.requestId.string(exemplar.requestId);
  exemplar.stageIds.forEach((stageId, i) => {
    stagesMs.keys.add(stagesMs.keys.placeOf(stageId, chunk.stages.utf8(stageId)));
    stagesMs.values.float64(exemplar.stageMs[i] as number);
  });
  stagesMs.endRow(exemplar.stageIds.length);
}

function cellSeconds(chunk: ChunkAccumulator, cell: number): number {
  return chunk.cellWindow(cell) * baseWindowSeconds;
}

/** For each cell the places of its texts in their columns: rows of one cell need not look for them again. */
function placesOfCells(chunk: ChunkAccumulator, block: ChunkBlock): Int32Array {
  const places = new Int32Array(chunk.cellCount * textDimensions.length);
  textDimensions.forEach((name, i) => {
    const column = block.texts[name];
    for (let cell = 0; cell < chunk.cellCount; cell++) {
      const id = chunk.cellDimension(cell, dimensions.indexOf(name));
      places[cell * textDimensions.length + i] = column.placeOf(id, chunk.values.utf8(id));
    }
  });
  return places;
}

/** Adds the window and the dimensions of a cell; `hostId` replaces the host where host is no dimension. */
function addCell(
  chunk: ChunkAccumulator,
  block: ChunkBlock,
  cell: number,
  places: Int32Array,
  hostId = 0,
): void {
  block.windowStart.uint32(cellSeconds(chunk, cell));
  block.coldStart.uint8(chunk.cellDimension(cell, coldStartIndex));
  const attributes = chunk.cellAttributes(cell);
  block.attributes.add(block.attributes.placeOf(attributes, chunk.values.utf8(attributes)));
  for (let i = 0; i < textDimensions.length; i++) {
    const name = textDimensions[i] as TextDimension;
    const column = block.texts[name];
    if (name === 'host' && hostId !== 0 && chunk.cellDimension(cell, hostIndex) === 0) {
      column.add(column.placeOf(hostId, chunk.values.utf8(hostId)));
    } else {
      column.add(places[cell * textDimensions.length + i] as number);
    }
  }
}

/** Adds the same origin to all rows. */
function addOrigin(origin: MarkedChunk, block: ChunkBlock, rows: number): void {
  if (rows === 0) return;
  const { groupId, topic, partition, startOffset, logMark } = block;
  groupId.add(groupId.placeOf(0, Buffer.from(origin.groupId)), rows);
  topic.add(topic.placeOf(0, Buffer.from(origin.topic)), rows);
  partition.uint32(origin.partition);
  partition.repeat(4, rows - 1);
  startOffset.uint64(origin.startOffset);
  startOffset.repeat(8, rows - 1);
  logMark.uint64(logMarkOf(origin.logId));
  logMark.repeat(8, rows - 1);
}

function addKind({ kind }: ChunkBlock, name: RowKind, rows: number): void {
  if (rows === 0) return;
  kind.uint8(rowKinds[name]);
  kind.repeat(1, rows - 1);
}

/** Adds rows without a stage: no name, no failed requests, an empty state. */
function addNoStages(block: ChunkBlock, rows: number): void {
  block.stage.add(block.stage.placeOf(0, EMPTY), rows);
  const { errors, timeouts, cancelled, censored } = block;
  for (const column of [errors, timeouts, cancelled, censored]) column.zeros(8 * rows);
  block.latency.zeros(rows);
  block.censoredLatency.zeros(rows);
  block.endedLatency.zeros(rows);
}

function addNoFacets(block: ChunkBlock, rows: number): void {
  block.facet.add(block.facet.placeOf('', EMPTY), rows);
  block.value.zeros(rows);
}

function addNoExemplars(block: ChunkBlock, rows: number): void {
  block.eventTime.zeros(8 * rows);
  block.status.add(block.status.placeOf(-1, EMPTY), rows);
  block.traceId.zeros(rows);
  block.requestId.zeros(rows);
  block.stagesMs.addEmpty(rows);
}

function sumOf(amounts: Float64Array, count: number): number {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += amounts[i] as number;
  return sum;
}

function shorten(values: Float64Array, count: number, significantBits: number): void {
  for (let i = 0; i < count; i++) values[i] = shortMs(values[i] as number, significantBits);
}

function addBands(column: MapColumn<RowBinaryWriter>, count: number): void {
  for (let i = 0; i < count; i++) {
    column.keys.int16(bandNumbers[i] as number);
    column.values.float64(bandAmounts[i] as number);
  }
  column.endRow(count);
}

/** Phase for SketchPool.centroids: it depends on the chunk's mark, so a recreated chunk has the same. */
function phaseOf(mark: number, row: number): number {
  return 1 - ((mark / 2 ** 48 + row * GOLDEN) % 1);
}
