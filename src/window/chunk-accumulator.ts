import {
  coldStartIndex,
  type DimensionName,
  dimensions,
  isAttributeName,
  standardStages,
  totalStage,
} from '../base/dimensions.ts';
import type { FacetName } from '../base/facets.ts';
import { limits } from '../base/limits.ts';
import type { CountedObjective } from '../config/slos.ts';
import { completionMs } from '../decode/completion-ms.ts';
import type { DecodedEvent } from '../decode/decoded-event.ts';
import { Interner } from '../decode/interner.ts';
import { bandOf, bandRange } from '../sketch/band.ts';
import { type CountHost, CountKernel, kernelOffsets as offsets } from '../sketch/count-kernel.ts';
import { SketchPool } from '../sketch/sketch-pool.ts';
import { CellBands } from './cell-bands.ts';
import { CensoredDurations, isGivenUp } from './censored-durations.ts';
import { DriverTable } from './driver-table.ts';
import { ExemplarStore } from './exemplar-store.ts';
import { IntTable } from './int-table.ts';
import { JointObjectives } from './joint-objectives.ts';
import { type Outcome, outcomes } from './outcome.ts';
import { RowTable } from './row-table.ts';
import { TokenGaps } from './token-gaps.ts';
import { TokenMeasures } from './token-measures.ts';

/** Length of the stored windows, which coarser ones are merged from. */
export const baseWindowMs = 10_000;

export interface ChunkOptions {
  /** Dimensions of a series. */
  readonly dimensions: readonly DimensionName[];
  readonly facets: readonly FacetName[];
  /** Maximum number of cells (a series in a window); events of further ones count as `__other__`. */
  readonly maxCells: number;
  readonly allowedLatenessMs: number;
  readonly maxFutureMs: number;
  /** Time after a window's end at which the watermark makes further events late merges. */
  readonly graceMs: number;
  /** Joint objectives to count. @default none */
  readonly objectives?: readonly CountedObjective[] | undefined;
}

/** Column of the totals' milliseconds; the columns of a cell's rows follow. */
export const totalMsColumn = 0;
const hostIndex = dimensions.indexOf('host');
const noCounts = { aggregated: 0, overflow: 0, late: 0, future: 0, lateMerged: 0, weight: 0 };

/**
 * Aggregates of one open chunk: events in, rows out. All state is flat typed arrays that are reused from
 * chunk to chunk. An event allocates nothing, except as an exemplar.
 *
 *     event ── (window, dimensions) ──> cell ── stage ──> row: counts, sketch, bands
 *                                        └─> exemplars       └─ drivers by minute and facet
 *
 * Pure: the clock is the `nowMs` of `begin`, so a chunk that is read twice counts the same.
 */
export class ChunkAccumulator {
  readonly #options: ChunkOptions;
  /** Names of the chunk's events, which their decoder interns. */
  readonly stages = new Interner(limits.stageNames);
  readonly values = new Interner(limits.internedValues);
  readonly #measures = new TokenMeasures(this.stages);
  readonly #objectives: JointObjectives;
  /** Configured dimensions; the key of a cell is its window's number, an id of each, and that of the own ones. */
  readonly #enabled: Int32Array;
  readonly #hasOwn: boolean;
  #totalStageId = 0;
  readonly #cells: IntTable;
  readonly #windows = new Set<number>();
  readonly #key: Int32Array;
  readonly rows = new RowTable();
  readonly sketches = new SketchPool();
  /** Bands of cells, a column a row: requests of the total, milliseconds of stages and of `totalMsColumn`. */
  readonly bands = new CellBands();
  readonly censored = new CensoredDurations(this.stages);
  readonly drivers: DriverTable;
  readonly exemplars = new ExemplarStore(this.stages);
  #nowMs = 0;
  #watermarkMs = Number.NEGATIVE_INFINITY;
  /** First window whose end and grace the watermark has not passed. */
  #openWindow = Number.NEGATIVE_INFINITY;
  /**
   * Events; `lateMerged` are included in `aggregated` and `overflow`. `weight` is the sum of the weights of
   * these two.
   */
  readonly counts = { ...noCounts };

  readonly #kernel = CountKernel.shared();
  readonly #gaps = new TokenGaps(this.stages, this.#kernel);
  /** Allocates memory when an event is the first of its kind. */
  readonly #host: CountHost = {
    allocate: (bytes) => this.sketches.allocateBytes(bytes),
    slotOf: (block, stageId) => this.#slotOf(block, stageId),
    vectorOf: (block, band) => this.bands.vectorOf(block, band),
    addFar: (block, band, column, amount) =>
      this.bands.add(this.bands.cellOf(block), band + bandRange.lowest, column, amount),
  };

  constructor(options: ChunkOptions) {
    this.#options = options;
    this.#enabled = Int32Array.from(
      dimensions.flatMap((dimension, i) => (options.dimensions.includes(dimension) ? [i] : [])),
    );
    this.#hasOwn = options.dimensions.some(isAttributeName);
    const width = this.#enabled.length + (this.#hasOwn ? 2 : 1);
    this.#cells = new IntTable(width);
    this.#key = new Int32Array(width);
    this.drivers = new DriverTable(options.facets);
    this.#objectives = new JointObjectives(this.stages, this.values, options.objectives ?? []);
  }

  /**
   * Starts a chunk on empty state.
   *
   * @param watermarkMs latest event time (completion of a request) of the partition so far; -Infinity at its
   * beginning.
   * @param nowMs wall clock that decides which events are "in the future"; it may be set later if there are
   * none.
   */
  begin(watermarkMs: number, nowMs: number): void {
    this.stages.clear();
    this.values.clear();
    this.#totalStageId = this.stages.internText(totalStage);
    // Interned first, so that a flood of names cannot displace them.
    for (const stage of standardStages) this.stages.internText(stage);
    this.#objectives.begin();
    this.#cells.clear();
    this.#windows.clear();
    this.rows.reset();
    this.sketches.reset();
    this.bands.reset();
    this.censored.reset();
    this.drivers.reset();
    this.exemplars.reset();
    Object.assign(this.counts, noCounts);
    this.#watermarkMs = watermarkMs;
    this.setClock(nowMs);
  }

  get watermarkMs(): number {
    return this.#watermarkMs;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  setClock(nowMs: number): void {
    this.#nowMs = nowMs;
    this.#openWindow = this.#openWindowAt(this.#watermarkMs);
  }

  /** Rows of the chunk in the tables, exemplars not included. */
  get rowCount(): number {
    return this.rows.size + this.drivers.size;
  }

  /** Bytes of its sketches and bands, in steps of 64 KiB; tables that find them add a third. */
  get bytes(): number {
    return this.sketches.bytes + this.bands.bytes + this.censored.bytes;
  }

  get windowCount(): number {
    return this.#windows.size;
  }

  get cellCount(): number {
    return this.#cells.size;
  }

  /** Counts an event in the window in which its request ended, or returns why not. Appends its measures to it. */
  add(event: DecodedEvent): Outcome {
    const endMs = completionMs(event);
    // A clock that runs ahead makes no other event late: the watermark counts up to our clock.
    const reachedMs = Math.min(this.#watermarkMs, this.#nowMs);
    if (endMs < reachedMs - this.#options.allowedLatenessMs) {
      this.counts.late++;
      return outcomes.late;
    }
    if (endMs > this.#nowMs + this.#options.maxFutureMs) {
      this.counts.future++;
      return outcomes.future;
    }
    const window = Math.floor(endMs / baseWindowMs);
    const { cell, overflowed } = this.#cellOf(event, window);
    if (cell < 0) return outcomes.tooManyWindows;
    if (endMs > this.#watermarkMs) {
      this.#watermarkMs = endMs;
      this.#openWindow = this.#openWindowAt(endMs);
    } else if (window < this.#openWindow) {
      this.counts.lateMerged++;
    }
    this.#count(cell, event, endMs);
    this.counts.weight += event.weight;
    if (overflowed) {
      this.counts.overflow++;
      return outcomes.overflow;
    }
    this.counts.aggregated++;
    return outcomes.aggregated;
  }

  /** Limits the watermark to the clock: no window closes before its end, however far a clock runs ahead. */
  #openWindowAt(watermarkMs: number): number {
    const reachedMs = Math.min(watermarkMs, this.#nowMs);
    return Math.floor((reachedMs - this.#options.graceMs) / baseWindowMs);
  }

  /** Number of a cell's window since the epoch. */
  cellWindow(cell: number): number {
    return this.#cells.part(cell, 0);
  }

  /** Interned id of a cell's dimension (0 or 1 for `cold_start`). */
  cellDimension(cell: number, dimension: number): number {
    const part = this.#enabled.indexOf(dimension) + 1;
    return part === 0 ? 0 : this.#cells.part(cell, part);
  }

  /** Interned text of a cell's own dimensions. */
  cellAttributes(cell: number): number {
    return this.#hasOwn ? this.#cells.part(cell, this.#enabled.length + 1) : 0;
  }

  get totalStageId(): number {
    return this.#totalStageId;
  }

  readonly #found = { cell: 0, overflowed: false };

  /** Cell of an event, or of `__other__` beyond the limit; -1 for a window beyond the limit. */
  #cellOf(event: DecodedEvent, window: number): { cell: number; overflowed: boolean } {
    const key = this.#key;
    const enabled = this.#enabled;
    key[0] = window;
    for (let n = 0; n < enabled.length; n++) {
      key[n + 1] = event.dimensionIds[enabled[n] as number] as number;
    }
    if (this.#hasOwn) key[enabled.length + 1] = event.attributesId;
    const found = this.#found;
    found.overflowed = false;
    found.cell = this.#cells.find(key);
    if (found.cell >= 0) return found;
    if (!this.#windows.has(window)) {
      if (this.#windows.size >= limits.windowsPerChunk) return found;
      this.#windows.add(window);
    }
    if (this.#cells.size >= this.#options.maxCells || this.rows.size >= limits.rowsPerChunk) {
      found.overflowed = true;
      // Cold starts stay separate here too.
      for (let n = 0; n < enabled.length; n++) {
        if (enabled[n] !== coldStartIndex) key[n + 1] = Interner.otherId;
      }
      if (this.#hasOwn) key[enabled.length + 1] = Interner.otherId;
      found.cell = this.#cells.find(key);
      if (found.cell >= 0) return found;
    }
    found.cell = this.#cells.add(key);
    return found;
  }

  /** Adds an event to its rows, and one with a total to bands, drivers and exemplars. */
  #count(cell: number, event: DecodedEvent, endMs: number): void {
    this.#measures.append(event);
    const { stageIds, stageMs, stageCount, totalMs, weight } = event;
    const { ids, durations } = this.#kernel;
    for (let i = 0; i < stageCount; i++) {
      ids[i] = stageIds[i] as number;
      durations[i] = stageMs[i] as number;
    }
    const counted = this.#objectives.append(event, ids, durations, stageCount);
    const isWhole = !Number.isNaN(totalMs);
    const band = isWhole ? bandOf(totalMs) : 0;
    const bandIndex = isWhole ? band - bandRange.lowest : -1;
    const block = this.bands.blockOf(cell);
    const totalId = this.#totalStageId;
    if (weight === 1) {
      this.#kernel.count(this.#host, block, bandIndex, counted, totalId, totalMs);
    } else {
      this.#kernel.countMany(this.#host, block, bandIndex, counted, totalId, totalMs, weight);
    }
    if (event.gapCount > 0) this.#gaps.add(event, this.#host, block);
    if (event.status !== 0) this.#countStatus(cell, event, isWhole);
    if (!isWhole) return;
    this.drivers.add(event, Math.floor(endMs / 60_000), band);
    const hostId = event.dimensionIds[hostIndex] as number;
    this.exemplars.offer(cell, this.cellWindow(cell), event, hostId);
  }

  #countStatus(cell: number, event: DecodedEvent, isWhole: boolean): void {
    const { stageIds, stageCount, status, weight } = event;
    for (let i = 0; i < stageCount; i++) {
      this.rows.countStatus(this.#rowOf(cell, stageIds[i] as number), status, weight);
    }
    if (isWhole) this.rows.countStatus(this.#rowOf(cell, this.#totalStageId), status, weight);
    if (isGivenUp(status)) this.#countCensored(cell, event, isWhole);
  }

  /** Counts the durations at which a request was given up: of its total, and of the part that it was in. */
  #countCensored(cell: number, event: DecodedEvent, isWhole: boolean): void {
    const { stageIds, stageMs, totalMs, weight } = event;
    const last = this.censored.lastPart(event);
    if (last >= 0) {
      const row = this.#rowOf(cell, stageIds[last] as number);
      this.censored.add(row, stageMs[last] as number, weight);
    }
    if (isWhole) this.censored.add(this.#rowOf(cell, this.#totalStageId), totalMs, weight);
  }

  /** Address of a stage's sketch, for a block that does not have it yet. */
  #slotOf(block: number, stageId: number): number {
    const row = this.#rowOf(this.bands.cellOf(block), stageId);
    const slot = this.sketches.addressOf(row);
    this.bands.setSlot(block, stageId, slot);
    return slot;
  }

  #rowOf(cell: number, stageId: number): number {
    const row = this.rows.find(cell, stageId);
    if (row >= 0) return row;
    // A single message may have millions of rows: its stages count as one, its total and objectives stay separate.
    if (this.rows.size >= limits.rowsPerChunk && this.#isStage(stageId)) {
      return this.#rowOf(cell, Interner.otherId);
    }
    const added = this.rows.add(cell, stageId);
    const slot = this.sketches.addressOf(this.sketches.allocate());
    this.#kernel.ints[(slot + offsets.column) >>> 2] = this.rows.column(added);
    return added;
  }

  #isStage(stageId: number): boolean {
    if (stageId === this.#totalStageId || stageId === Interner.otherId) return false;
    // Gaps and objectives are no part of the total, as `__other__` is.
    return !this.#gaps.isStage(stageId) && !this.#objectives.isRow(stageId);
  }
}
