import { coldStartIndex, type Dimension, dimensions } from '../../src/base/dimensions.ts';
import type { Facet } from '../../src/base/facets.ts';
import type { CountedObjective } from '../../src/config/slos.ts';
import { MessageDecoder } from '../../src/decode/message/message-decoder.ts';
import { ChunkAccumulator, totalMsColumn } from '../../src/window/chunk-accumulator.ts';
import type { Outcome } from '../../src/window/outcome.ts';
import type { ReferenceRow } from './reference-chunk.ts';
import type { TimingEventText } from './timing-event-text.ts';

export interface TestChunkOptions {
  readonly dimensions?: readonly Dimension[];
  readonly facets?: readonly Facet[];
  readonly maxCells?: number;
  readonly allowedLatenessMs?: number;
  readonly maxFutureMs?: number;
  readonly graceMs?: number;
  readonly objectives?: readonly CountedObjective[];
}

/** An accumulator after a real decoder, with its rows in the reference's format. */
export class TestChunk {
  readonly accumulator: ChunkAccumulator;
  readonly #decoder: MessageDecoder;

  constructor(options: TestChunkOptions = {}) {
    this.accumulator = new ChunkAccumulator({
      dimensions: options.dimensions ?? ['model', 'region', 'cold_start'],
      facets: options.facets ?? ['host', 'cache_hit', 'batch_size', 'input_tokens'],
      maxCells: options.maxCells ?? 10_000,
      allowedLatenessMs: options.allowedLatenessMs ?? 86_400_000,
      maxFutureMs: options.maxFutureMs ?? 300_000,
      graceMs: options.graceMs ?? 2_000,
      objectives: options.objectives,
    });
    const { stages, values } = this.accumulator;
    this.#decoder = new MessageDecoder({
      stages,
      values,
      maxMessageBytes: 1 << 24,
      maxDurationMs: 3_600_000,
      maxDimensionBytes: 256,
    });
  }

  begin(watermarkMs = Number.NEGATIVE_INFINITY, nowMs = 1_800_000_000_000): this {
    this.accumulator.begin(watermarkMs, nowMs);
    return this;
  }

  /** Adds events, all of them valid; returns the outcome of each. */
  add(...events: readonly TimingEventText[]): Outcome[] {
    const outcomes: Outcome[] = [];
    for (const event of events) {
      this.#decoder.decode(Buffer.from(JSON.stringify(event)), {
        event: (record) => outcomes.push(this.accumulator.add(record)),
        reject: (_, reason, detail) => {
          throw new Error(`The test's event must be good: ${reason}, ${detail}`);
        },
        skip: () => undefined,
      });
    }
    return outcomes;
  }

  /** Window, series and stage of a row, as the reference keys it. */
  keyOf(row: number): string {
    const { accumulator: chunk } = this;
    const cell = chunk.rows.cell(row);
    const values = dimensions.map((_, i) => {
      const id = chunk.cellDimension(cell, i);
      if (i === coldStartIndex) return id === 1 ? '1' : '';
      return chunk.values.text(id);
    });
    const stage = chunk.stages.text(chunk.rows.stageId(row));
    return [chunk.cellWindow(cell) * 10_000, ...values, stage].join('|');
  }

  /** All rows by key. Throws where two rows have the same. */
  rows(): Map<string, Omit<ReferenceRow, 'wholeMs'>> {
    const { accumulator: chunk } = this;
    const rows = new Map<string, Omit<ReferenceRow, 'wholeMs'>>();
    for (let row = 0; row < chunk.rows.size; row++) {
      const key = this.keyOf(row);
      if (rows.has(key)) throw new Error(`two rows of ${key}`);
      const cell = chunk.rows.cell(row);
      const stageId = chunk.rows.stageId(row);
      const isTotal = stageId === chunk.totalStageId;
      rows.set(key, {
        requests: chunk.sketches.requests(row),
        sumUs: chunk.sketches.sumUs(row),
        minMs: chunk.sketches.minMs(row),
        maxMs: chunk.sketches.maxMs(row),
        errors: chunk.rows.statusCount(row, 1),
        timeouts: chunk.rows.statusCount(row, 2),
        cancelled: chunk.rows.statusCount(row, 3),
        censored: chunk.censored.requests(row),
        bands: readBands((bands, amounts) =>
          chunk.bands.read(cell, chunk.rows.column(row), bands, amounts),
        ),
        bandsMs: isTotal
          ? readBands((bands, amounts) => chunk.bands.read(cell, totalMsColumn, bands, amounts))
          : new Map(),
      });
    }
    return rows;
  }
}

function readBands(
  read: (bands: Int16Array, amounts: Float64Array) => number,
): Map<number, number> {
  const bands = new Int16Array(208);
  const amounts = new Float64Array(208);
  const n = read(bands, amounts);
  return new Map(Array.from({ length: n }, (_, i) => [bands[i] as number, amounts[i] as number]));
}
