import { type Dimension, dimensions } from '../../base/dimensions.ts';
import type { Interner } from '../../decode/interner.ts';
import type { ChunkAccumulator } from '../../window/chunk-accumulator.ts';

/** Dimensions in the order of the tables' keys, in which `stage` follows the model (sql/0001); own ones are last. */
const keyOrder: readonly Dimension[] = [
  'model',
  'version',
  'request_type',
  'region',
  'service',
  'tenant',
  'host',
  'cold_start',
];

/**
 * Stage rows in the order of the latency tables' keys, windows last. ClickHouse finds the block sorted, and
 * need not sort it: for minutes, hours and days, and for 10-second windows where there is one.
 *
 * Costs a comparison sort of the cells, and a look-up for each cell and stage of the chunk: some 0.2 µs a row.
 */
export function rowOrder(chunk: ChunkAccumulator): Int32Array {
  const { rows, cellCount } = chunk;
  const keys = keysOfCells(chunk);
  const width = keyOrder.length + 2;
  const cells = Int32Array.from({ length: cellCount }, (_, cell) => cell);
  cells.sort((a, b) => {
    for (let i = 0; i < width; i++) {
      const difference = (keys[a * width + i] as number) - (keys[b * width + i] as number);
      if (difference !== 0) return difference;
    }
    return 0;
  });
  const stageIds = stagesOf(chunk);
  const order = new Int32Array(rows.size);
  let n = 0;
  for (let from = 0; from < cellCount; ) {
    const modelOf = (i: number) => keys[(cells[i] as number) * width];
    let to = from;
    while (to < cellCount && modelOf(to) === modelOf(from)) to++;
    for (const stageId of stageIds) {
      for (let i = from; i < to; i++) {
        const row = rows.find(cells[i] as number, stageId);
        if (row >= 0) order[n++] = row;
      }
    }
    from = to;
  }
  return order;
}

/** Ranks of each cell's dimensions in key order, then its window. */
function keysOfCells(chunk: ChunkAccumulator): Int32Array {
  const { cellCount } = chunk;
  const width = keyOrder.length + 2;
  const keys = new Int32Array(cellCount * width);
  const setAll = (at: number, keyOf: (cell: number) => number) => {
    for (let cell = 0; cell < cellCount; cell++) keys[cell * width + at] = keyOf(cell);
  };
  const setRanks = (at: number, idOf: (cell: number) => number) => {
    const ids = Int32Array.from({ length: cellCount }, (_, cell) => idOf(cell));
    const ranks = ranksOf(ids, chunk.values);
    setAll(at, (cell) => ranks.get(ids[cell] as number) as number);
  };
  keyOrder.forEach((name, at) => {
    const dimension = dimensions.indexOf(name);
    const idOf = (cell: number) => chunk.cellDimension(cell, dimension);
    if (name === 'cold_start') setAll(at, idOf);
    else setRanks(at, idOf);
  });
  setRanks(keyOrder.length, (cell) => chunk.cellAttributes(cell));
  setAll(width - 1, (cell) => chunk.cellWindow(cell));
  return keys;
}

/** Ids of the chunk's stages, by name. */
function stagesOf({ rows, stages }: ChunkAccumulator): number[] {
  const ids = new Set<number>();
  for (let row = 0; row < rows.size; row++) ids.add(rows.stageId(row));
  return [...ranksOf(ids, stages).keys()];
}

/** Ranks of interned ids, and their keys in order, by the bytes of their texts. */
function ranksOf(ids: Iterable<number>, texts: Interner): Map<number, number> {
  const sorted = [...new Set(ids)].sort((a, b) => texts.utf8(a).compare(texts.utf8(b)));
  return new Map(sorted.map((id, rank) => [id, rank]));
}
