import { coldStartIndex, dimensions, gapStage, isObjectiveName } from '../base/dimensions.ts';
import { limits } from '../base/limits.ts';
import type { Config } from '../config/schema.ts';
import type { AnomalyEvent } from '../contract/anomaly-event.ts';
import { ofWorstSeries } from '../contract/worst-series.ts';
import { completionMs } from '../decode/completion-ms.ts';
import type { DecodedEvent } from '../decode/decoded-event.ts';
import type { DecodeSink } from '../decode/event-decoder.ts';
import { MessageDecoder } from '../decode/message/message-decoder.ts';
import type { RejectReason } from '../decode/reject-reasons.ts';
import { withDrivers } from '../detect/drivers/found-drivers.ts';
import { chunkSettingsOf } from '../ingest/chunk/chunk-settings.ts';
import { mergeBands } from '../series/bands.ts';
import { packStages } from '../series/pack-stages.ts';
import { attributesField, seriesKey } from '../series/series-key.ts';
import type { Bands, Series, SeriesWindow, StageSummary } from '../series/series-window.ts';
import type { WindowsAt } from '../sink/windows/each-window.ts';
import { bandRange } from '../sketch/band.ts';
import { PackedDigests } from '../sketch/packed-digests.ts';
import { stateCentroids } from '../sketch/sketch-pool.ts';
import { TDigest } from '../sketch/t-digest.ts';
import { type CheckedItem, ClockCheck } from '../source/clock-check.ts';
import { baseWindowMs, ChunkAccumulator, totalMsColumn } from '../window/chunk-accumulator.ts';
import { outcomes } from '../window/outcome.ts';
import { MemoryDrivers, pushTo } from './memory-drivers.ts';

/** Events of a chunk; fewer if they are far apart. */
const EVENTS_AT_ONCE = 50_000;
const WINDOWS_AT_ONCE = limits.windowsPerChunk / 2;
/** Delay of a window, in event time, for recordings whose events are not in order. */
const PATIENCE_MS = 60_000;
/** Windows of a longer time without any event are left out. No baseline is longer. */
const MAX_GAP_MS = 35 * 86_400_000;

const means = new Float64Array(stateCentroids);
const weights = new Float64Array(stateCentroids);
const bandNumbers = new Int16Array(bandRange.count);
const bandAmounts = new Float64Array(bandRange.count);
const packed = new PackedDigests();

/** Summaries of a series' window so far. */
interface Parts {
  readonly startMs: number;
  readonly series: Series;
  readonly stages: Map<string, StageSummary[]>;
}

export interface MemoryWindowsOptions {
  readonly gaps?: boolean;
}

/**
 * Windows straight from events, as the detector would read them from the tables: the same decoding, counting
 * and sketches, without storage. For recordings and for backtests.
 *
 * Memory: the windows of the last minute and of `EVENTS_AT_ONCE` events, and the drivers (`MemoryDrivers`)
 * over a baseline's length.
 */
export class MemoryWindows implements DecodeSink {
  readonly #windowMs: number;
  readonly #keepsGaps: boolean;
  readonly #decoder: MessageDecoder;
  readonly #accumulator: ChunkAccumulator;
  readonly #parts = new Map<number, Map<string, Parts>>();
  readonly #drivers: MemoryDrivers;
  readonly #clocks: ClockCheck<Buffer | null>;
  /** Reads the time of a message's first event. */
  readonly #firstTime: DecodeSink = {
    event: (event) => {
      if (Number.isNaN(this.#firstMs)) this.#firstMs = event.tsMs;
    },
    reject: () => undefined,
    skip: () => undefined,
  };
  #firstMs = Number.NaN;
  #isAhead = false;
  /** A recording may be in the order of starts, and a request may take longer than all that begin after it. */
  #latestStartMs = Number.NEGATIVE_INFINITY;
  #pendingEvents = 0;
  /** Start of the next window to hand out; NaN before the first. */
  #nextMs = Number.NaN;
  /** `rejected` are the events that a pipeline writes to the dead-letter topic. */
  readonly counts = { events: 0, rejected: 0, late: 0 };
  /** The reason why the first of them was rejected. */
  firstRejection: string | undefined;

  /** @param options `gaps`: keeps the gaps between tokens, which are no requests and which no detector reads. */
  constructor(config: Config, { gaps = false }: MemoryWindowsOptions = {}) {
    this.#keepsGaps = gaps;
    const settings = chunkSettingsOf(config);
    this.#clocks = new ClockCheck(settings.maxFutureMs);
    this.#windowMs = config.detect.window;
    this.#drivers = new MemoryDrivers(this.#windowMs, config.detect.baseline);
    this.#accumulator = new ChunkAccumulator(settings);
    const { stages, values } = this.#accumulator;
    this.#decoder = new MessageDecoder({ ...settings, stages, values });
    this.#begin(Number.NEGATIVE_INFINITY);
  }

  /** Adds a message. It is counted once enough others have followed it to show that its clock was right. */
  consume(message: Buffer | null): void {
    this.#firstMs = Number.NaN;
    this.#decoder.decode(message, this.#firstTime);
    for (const checked of this.#clocks.push(message, this.#firstMs)) this.#count(checked);
  }

  #count({ item, isAhead }: CheckedItem<Buffer | null>): void {
    this.#isAhead = isAhead;
    this.counts.events += this.#decoder.decode(item, this);
    const isSparse = this.#accumulator.windowCount >= WINDOWS_AT_ONCE;
    if (isSparse || this.#pendingEvents >= EVENTS_AT_ONCE) this.#seal();
  }

  event(event: DecodedEvent): void {
    if (this.#isAhead) {
      this.reject(0, 'future', 'The event must not be later than those that follow it');
      return;
    }
    this.#pendingEvents++;
    this.#latestStartMs = Math.max(this.#latestStartMs, event.tsMs);
    const isCounted = completionMs(event) >= (this.#nextMs || Number.NEGATIVE_INFINITY);
    const outcome = isCounted ? this.#accumulator.add(event) : outcomes.late;
    if (outcome === outcomes.late) this.counts.late++;
    else if (outcome === outcomes.tooManyWindows) this.counts.rejected++;
  }

  reject(_index: number, _reason: RejectReason, detail: string): void {
    this.counts.rejected++;
    this.firstRejection ??= detail;
  }

  /** Spans that no rule maps are no events: nothing counts them here. */
  skip(): void {}

  /** Counts a message that its source could not read, for the reason given. */
  refuse(detail: string): void {
    this.counts.events++;
    this.counts.rejected++;
    this.firstRejection ??= detail;
  }

  /** Adds the drivers of slow requests to an event, as a pipeline does. */
  explained(event: AnomalyEvent): AnomalyEvent {
    return withDrivers(event, this.#drivers.of(ofWorstSeries(event)));
  }

  /** Complete windows in order, empty ones too; at the end all of them. */
  *complete(isOver = false): Generator<WindowsAt, void> {
    if (isOver) {
      for (const checked of this.#clocks.drain()) this.#count(checked);
      this.#seal();
    }
    // Unsealed events may belong to any of them.
    if (this.#pendingEvents > 0) return;
    const starts = [...this.#parts.keys()].sort((a, b) => a - b);
    const [first] = starts;
    if (first === undefined) return;
    if (Number.isNaN(this.#nextMs)) this.#nextMs = first;
    const doneMs = isOver
      ? (starts.at(-1) as number) + this.#windowMs
      : this.#latestStartMs - PATIENCE_MS;
    for (const startMs of starts) {
      const endMs = startMs + this.#windowMs;
      if (endMs > doneMs) break;
      if (startMs - this.#nextMs > MAX_GAP_MS) this.#nextMs = startMs;
      for (; this.#nextMs < endMs; this.#nextMs += this.#windowMs) {
        yield { startMs: this.#nextMs, windows: this.#windowsAt(this.#nextMs) };
      }
    }
  }

  #begin(watermarkMs: number): void {
    // No event of a recording is in the future.
    this.#accumulator.begin(watermarkMs, Number.MAX_SAFE_INTEGER);
    this.#pendingEvents = 0;
  }

  /** Adds the counts of a chunk to their windows. */
  #seal(): void {
    const chunk = this.#accumulator;
    const partsOfCell: Parts[] = [];
    for (let cell = 0; cell < chunk.cellCount; cell++) {
      const baseMs = chunk.cellWindow(cell) * baseWindowMs;
      partsOfCell.push(this.#partsOf(baseMs - (baseMs % this.#windowMs), this.#seriesOf(cell)));
    }
    for (let row = 0; row < chunk.rows.size; row++) {
      const { startMs, series, stages } = partsOfCell[chunk.rows.cell(row)] as Parts;
      if (!this.#keepsGaps && chunk.stages.text(chunk.rows.stageId(row)) === gapStage) continue;
      const summary = stageSummary(chunk, row);
      this.#drivers.addStage(startMs, series, summary);
      pushTo(stages, summary.stage, summary);
    }
    this.#drivers.observe(chunk, this.#nextMs);
    this.#begin(chunk.watermarkMs);
  }

  #partsOf(startMs: number, series: Series): Parts {
    const window = this.#parts.get(startMs) ?? new Map<string, Parts>();
    this.#parts.set(startMs, window);
    const key = seriesKey(series);
    const parts = window.get(key) ?? { startMs, series, stages: new Map() };
    window.set(key, parts);
    return parts;
  }

  #seriesOf(cell: number): Series {
    const named = dimensions.map((name, i) => {
      const id = this.#accumulator.cellDimension(cell, i);
      return [name, i === coldStartIndex ? id === 1 : this.#accumulator.values.text(id)];
    });
    const attributes = this.#accumulator.values.text(this.#accumulator.cellAttributes(cell));
    return { ...(Object.fromEntries(named) as unknown as Series), ...attributesField(attributes) };
  }

  #windowsAt(startMs: number): SeriesWindow[] {
    const window = this.#parts.get(startMs);
    this.#parts.delete(startMs);
    if (window === undefined) return [];
    return [...window.values()].map(({ series, stages }) => {
      const all = [...stages.values()].map(merged);
      const counted = all.filter(({ stage }) => isObjectiveName(stage));
      const objectives = new Map(
        counted.map(({ stage, requests, sumMs }) => [stage, { requests, bad: sumMs }]),
      );
      return {
        windowStartMs: startMs,
        windowMs: this.#windowMs,
        series,
        stages: packStages(all.filter(({ stage }) => !isObjectiveName(stage))),
        ...(counted.length > 0 && { objectives }),
      };
    });
  }
}

/** Summary of a chunk's row, as the detector would read it from the tables. */
function stageSummary(chunk: ChunkAccumulator, row: number): StageSummary {
  const { rows, sketches, censored, bands, totalStageId } = chunk;
  const cell = rows.cell(row);
  const stageId = rows.stageId(row);
  const read = (column: number): Bands => {
    const n = bands.read(cell, column, bandNumbers, bandAmounts);
    return { bands: [...bandNumbers.subarray(0, n)], amounts: [...bandAmounts.subarray(0, n)] };
  };
  packed.add(means, weights, sketches.centroids(row, means, weights));
  const isCensored = censored.requests(row) > 0;
  if (isCensored) {
    packed.add(means, weights, censored.centroids(row, means, weights));
    packed.add(means, weights, censored.ended(row, sketches, means, weights));
  }
  const [digest, given, ended] = packed.drain() as [TDigest, TDigest?, TDigest?];
  return {
    stage: chunk.stages.text(stageId),
    requests: sketches.requests(row),
    errors: rows.statusCount(row, 1),
    timeouts: rows.statusCount(row, 2),
    cancelled: rows.statusCount(row, 3),
    sumMs: sketches.sumUs(row) / 1000,
    minMs: sketches.minMs(row),
    maxMs: sketches.maxMs(row),
    digest,
    ...(given && ended && { censored: given, ended }),
    bands: read(rows.column(row)),
    bandsMs: stageId === totalStageId ? read(totalMsColumn) : { bands: [], amounts: [] },
  };
}

/** Merges the parts of a window, at least one. */
function merged(parts: readonly StageSummary[]): StageSummary {
  const [first] = parts as readonly [StageSummary];
  const censored = parts.flatMap((part) => part.censored ?? []);
  if (parts.length === 1) return first;
  const sum = (field: 'requests' | 'errors' | 'timeouts' | 'cancelled' | 'sumMs') =>
    parts.reduce((total, part) => total + part[field], 0);
  return {
    stage: first.stage,
    requests: sum('requests'),
    errors: sum('errors'),
    timeouts: sum('timeouts'),
    cancelled: sum('cancelled'),
    sumMs: sum('sumMs'),
    minMs: Math.min(...parts.map(({ minMs }) => minMs)),
    maxMs: Math.max(...parts.map(({ maxMs }) => maxMs)),
    digest: TDigest.merge(parts.map(({ digest }) => digest)),
    ...(censored.length > 0 && {
      censored: TDigest.merge(censored),
      ended: TDigest.merge(parts.map(({ ended, digest }) => ended ?? digest)),
    }),
    bands: mergeBands(parts.map(({ bands }) => bands)),
    bandsMs: mergeBands(parts.map(({ bandsMs }) => bandsMs)),
  };
}
