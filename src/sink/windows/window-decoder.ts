import { coldStartIndex, isObjectiveName, totalStage } from '../../base/dimensions.ts';
import { attributesField } from '../../series/series-key.ts';
import type {
  Bands,
  ObjectiveCounts,
  Series,
  SeriesWindow,
  StageSummary,
} from '../../series/series-window.ts';
import { readState } from '../../sketch/clickhouse-state.ts';
import { PackedDigests } from '../../sketch/packed-digests.ts';
import { TDigest } from '../../sketch/t-digest.ts';
import { RowBinaryReader } from '../row-binary/row-binary-reader.ts';
import { InternedNames } from './interned-names.ts';

/** All series of one window start; empty without requests. */
export interface WindowsAt {
  readonly startMs: number;
  readonly windows: readonly SeriesWindow[];
}

/** A stage whose digest is decoded together with those of its window. */
interface OpenStage extends StageSummary {
  digest: TDigest;
}

/** Sizes of fixed columns: four counts and three durations; a centroid; a band and its amount. */
const countsBytes = 7 * 8;
const centroidBytes = 8;
const bandBytes = 10;
/** Limit of a row; more bytes mean corrupt input. */
const mostRowBytes = 16 * 1024 * 1024;

const unread = TDigest.fromCentroids([], []);
const names = new InternedNames();

/**
 * Decodes rows of sql/queries/series_windows.sql, ordered by window and series, from parts of a response that
 * may end anywhere. Of an unwanted series only the stage that represents its whole requests is kept, and those
 * that are always wanted. Rows of joint objectives are kept apart, without their digests.
 *
 * Memory: one window of all series, and less than a row. Cost: about 2 µs per row.
 */
export class WindowDecoder {
  readonly #windowMs: number;
  readonly #isWanted: (series: Series, startMs: number) => boolean;
  readonly #always: ReadonlySet<string>;
  readonly #packed = new PackedDigests();
  /** Beginning of an incomplete row. */
  #rest: Buffer = Buffer.alloc(0);
  #startMs = Number.NaN;
  #windows: SeriesWindow[] = [];
  #series: Series | undefined;
  #isWhole = true;
  #stages = new Map<string, StageSummary>();
  /** Stage that represents the whole requests of an unwanted series so far. */
  #whole: StageSummary | undefined;
  #objectives: Map<string, ObjectiveCounts> | undefined;
  #open: OpenStage[] = [];
  #rows = 0;

  /**
   * @param isWanted called once per series and window, after all earlier windows have been yielded.
   * @param always stages that are read of every series.
   */
  constructor(
    windowMs: number,
    isWanted: (series: Series, startMs: number) => boolean = () => true,
    always: readonly string[] = [],
  ) {
    this.#windowMs = windowMs;
    this.#always = new Set(always);
    this.#isWanted = isWanted;
  }

  get rows(): number {
    return this.#rows;
  }

  /** Decodes the next part of the response; yields windows that are complete. */
  *decode(part: Buffer): Generator<WindowsAt, void> {
    const bytes = this.#rest.length === 0 ? part : Buffer.concat([this.#rest, part]);
    const reader = new RowBinaryReader(bytes);
    let from = 0;
    for (; skipRow(reader); from = reader.at) {
      reader.at = from;
      const startMs = reader.uint32() * 1000;
      if (startMs !== this.#startMs) {
        yield* this.#end();
        this.#startMs = startMs;
      }
      this.#row(reader);
    }
    this.#rest = Buffer.from(bytes.subarray(from));
    if (this.#rest.length > mostRowBytes) {
      throw new RangeError(`a row of more than ${mostRowBytes} bytes`);
    }
  }

  /** Yields the last window. @throws RangeError when the response has ended within a row. */
  *end(): Generator<WindowsAt, void> {
    if (this.#rest.length > 0) {
      throw new RangeError(
        `the response ends within a row, after ${this.#rest.length} bytes of it`,
      );
    }
    yield* this.#end();
  }

  *#end(): Generator<WindowsAt, void> {
    this.#closeSeries();
    const windows = this.#windows;
    if (windows.length === 0) return;
    this.#windows = [];
    this.#series = undefined;
    yield { startMs: this.#startMs, windows };
  }

  #row(reader: RowBinaryReader): void {
    this.#rows += 1;
    const series = internedSeries(reader);
    if (series !== this.#series) {
      this.#closeSeries();
      this.#series = series;
      this.#isWhole = this.#isWanted(series, this.#startMs);
      this.#stages = new Map();
      this.#whole = undefined;
      this.#objectives = undefined;
      const stages = this.#stages;
      this.#windows.push({
        windowStartMs: this.#startMs,
        windowMs: this.#windowMs,
        series,
        stages,
      });
    }
    const from = reader.at;
    const stage = internedStage(reader);
    if (isObjectiveName(stage)) {
      this.#objective(reader, stage);
      return;
    }
    const isRead = this.#isWhole || this.#always.has(stage);
    const isOfRequests = !this.#isWhole && this.#isOfWholeRequests(stage, reader);
    reader.at = from;
    if (!isRead && !isOfRequests) {
      skipStage(reader);
      return;
    }
    const summary = readSummary(reader, this.#packed);
    this.#open.push(summary);
    if (isOfRequests) {
      // Another stage took the place of the one before.
      const before = this.#whole?.stage;
      if (before !== undefined && !this.#always.has(before)) this.#stages.delete(before);
      this.#whole = summary;
    }
    this.#stages.set(summary.stage, summary);
  }

  /** Counts the row of a joint objective: its milliseconds are the requests that missed it. */
  #objective(reader: RowBinaryReader, row: string): void {
    const requests = reader.uint64();
    reader.skip(3 * 8);
    const bad = reader.float64();
    reader.skip(2 * 8);
    skipDigest(reader);
    if (this.#objectives === undefined) {
      this.#objectives = new Map();
      const window = this.#windows.pop() as SeriesWindow;
      this.#windows.push({ ...window, objectives: this.#objectives });
    }
    this.#objectives.set(row, { requests, bad });
  }

  /**
   * True if a row's stage represents the whole requests better than the stages before: see `wholeRequest`.
   *
   * @param reader at its requests.
   */
  #isOfWholeRequests(stage: string, reader: RowBinaryReader): boolean {
    const requests = reader.uint64();
    const kept = this.#whole;
    if (kept === undefined || stage === totalStage) return true;
    return kept.stage !== totalStage && requests > kept.requests;
  }

  #closeSeries(): void {
    const digests = this.#packed.drain();
    for (const [i, stage] of this.#open.entries()) stage.digest = digests[i] as TDigest;
    this.#open = [];
  }
}

/** Skips a row; returns false where it is incomplete. */
function skipRow(reader: RowBinaryReader): boolean {
  if (reader.atEnd) return false;
  try {
    reader.skip(4);
    skipSeries(reader);
    skipStage(reader);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function skipSeries(reader: RowBinaryReader): void {
  for (let text = 0; text < coldStartIndex; text++) reader.skipString();
  reader.skip(1);
  reader.skipString();
}

function skipStage(reader: RowBinaryReader): void {
  reader.skipString();
  reader.skip(countsBytes);
  skipDigest(reader);
}

/** Skips a stage's digest and bands. */
function skipDigest(reader: RowBinaryReader): void {
  reader.skip(reader.varUint() * centroidBytes);
  reader.skip(reader.varUint() * bandBytes);
  reader.skip(reader.varUint() * bandBytes);
}

function internedSeries(reader: RowBinaryReader): Series {
  const from = reader.at;
  skipSeries(reader);
  return names.series(reader.bytes, from, reader.at, () => {
    reader.at = from;
    return readSeries(reader);
  });
}

/** Reads a series, in the order of `dimensions`, with the own ones behind them. @param hasVersion false if rows have no version. */
export function readSeries(reader: RowBinaryReader, hasVersion = true): Series {
  const series = {
    service: reader.string(),
    model: reader.string(),
    version: hasVersion ? reader.string() : '',
    request_type: reader.string(),
    region: reader.string(),
    host: reader.string(),
    tenant: reader.string(),
    cold_start: reader.uint8() === 1,
  };
  return { ...series, ...attributesField(reader.string()) };
}

function internedStage(reader: RowBinaryReader): string {
  const from = reader.skipString();
  return names.text(reader.bytes, from, reader.at);
}

function readSummary(reader: RowBinaryReader, digests: PackedDigests): OpenStage {
  const stage = internedStage(reader);
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
