import { totalStage } from '../../src/base/dimensions.ts';
import { packStages } from '../../src/series/pack-stages.ts';
import type { Bands, Series, SeriesWindow, StageSummary } from '../../src/series/series-window.ts';
import { bandOf, bandRange } from '../../src/sketch/band.ts';
import { SketchPool, stateCentroids } from '../../src/sketch/sketch-pool.ts';
import { TDigest } from '../../src/sketch/t-digest.ts';
import { CellBands } from '../../src/window/cell-bands.ts';
import { totalMsColumn } from '../../src/window/chunk-accumulator.ts';
import type { Durations } from './draw-window.ts';

const series: Series = {
  ...{ service: '', model: 'ranker', version: '', request_type: '', region: '' },
  ...{ host: '', tenant: '', cold_start: false },
};
const none: Bands = { bands: [], amounts: [] };

/**
 * Makes windows as the detector reads them, from requests as numbers: the real sketches and bands, without
 * the JSON. Dimensions, exemplars and facets, which the detector does not read, are left out.
 * test/eval/window-maker.test.ts compares them with those of messages.
 */
export class WindowMaker {
  readonly #windowMs: number;
  readonly #sketches = new SketchPool();
  readonly #bands = new CellBands();
  readonly #means = new Float64Array(stateCentroids);
  readonly #weights = new Float64Array(stateCentroids);
  readonly #bandNumbers = new Int16Array(bandRange.count);
  readonly #bandAmounts = new Float64Array(bandRange.count);

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /**
   * Makes the series of a window: one, or none if it had no request. The total of a request is the sum of its
   * stages.
   */
  make(startMs: number, version: string, durations: Durations): SeriesWindow[] {
    const names = [...durations.keys()];
    const columns = [...durations.values()];
    const requests = columns[0]?.length ?? 0;
    if (requests === 0) return [];
    this.#sketches.reset();
    this.#bands.reset();
    for (let slot = 0; slot <= columns.length; slot++) this.#sketches.allocate();
    for (let request = 0; request < requests; request++) this.#add(columns, request);
    const stages = [...names, totalStage].map((name, slot) => this.#summaryOf(slot, name));
    const window = { windowStartMs: startMs, windowMs: this.#windowMs };
    return [{ ...window, series: { ...series, version }, stages: packStages(stages) }];
  }

  /** A stage's slot is its index, and the total's the one after them. */
  #add(columns: readonly (readonly number[])[], request: number): void {
    let totalMs = 0;
    for (let slot = 0; slot < columns.length; slot++) totalMs += columns[slot]?.[request] as number;
    const band = bandOf(totalMs);
    for (let slot = 0; slot < columns.length; slot++) {
      const ms = columns[slot]?.[request] as number;
      this.#sketches.add(slot, ms);
      this.#bands.add(0, band, columnOf(slot), ms);
    }
    this.#sketches.add(columns.length, totalMs);
    this.#bands.add(0, band, columnOf(columns.length), 1);
    this.#bands.add(0, band, totalMsColumn, totalMs);
  }

  #summaryOf(slot: number, stage: string): StageSummary {
    const sketches = this.#sketches;
    const centroids = sketches.centroids(slot, this.#means, this.#weights);
    return {
      stage,
      requests: sketches.requests(slot),
      errors: 0,
      timeouts: 0,
      cancelled: 0,
      sumMs: sketches.sumUs(slot) / 1000,
      minMs: sketches.minMs(slot),
      maxMs: sketches.maxMs(slot),
      digest: TDigest.fromCentroids(this.#means, this.#weights, centroids),
      bands: this.#bandsOf(columnOf(slot)),
      bandsMs: stage === totalStage ? this.#bandsOf(totalMsColumn) : none,
    };
  }

  #bandsOf(column: number): Bands {
    const n = this.#bands.read(0, column, this.#bandNumbers, this.#bandAmounts);
    const bands: number[] = [];
    const amounts: number[] = [];
    for (let i = 0; i < n; i++) {
      bands.push(this.#bandNumbers[i] as number);
      amounts.push(this.#bandAmounts[i] as number);
    }
    return { bands, amounts };
  }
}

function columnOf(slot: number): number {
  return totalMsColumn + 1 + slot;
}
