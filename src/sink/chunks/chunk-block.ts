import { type Dimension, dimensions } from '../../base/dimensions.ts';
import { MapColumn } from '../native/map-column.ts';
import { type NativeColumn, nativeBlock } from '../native/native-block.ts';
import { TextColumn } from '../native/text-column.ts';
import { RowBinaryWriter } from '../row-binary/row-binary-writer.ts';
import { chunkColumnTypes } from './chunk-columns.ts';

export type TextDimension = Exclude<Dimension, 'cold_start'>;

/** All dimensions but `cold_start`. */
export const textDimensions: readonly TextDimension[] = dimensions.filter(
  (name): name is TextDimension => name !== 'cold_start',
);

const plain = () => new RowBinaryWriter(1 << 12);

/** The columns of a chunk's rows, to be filled row by row. They keep their memory for the next chunk. */
export class ChunkBlock {
  readonly kind = plain();
  readonly windowStart = plain();
  readonly texts: Readonly<Record<TextDimension, TextColumn>>;
  readonly coldStart = plain();
  readonly attributes = new TextColumn();
  readonly stage = new TextColumn();
  readonly requests = plain();
  readonly errors = plain();
  readonly timeouts = plain();
  readonly cancelled = plain();
  readonly sumMs = plain();
  readonly minMs = plain();
  readonly maxMs = plain();
  readonly latency = plain();
  readonly bands = new MapColumn(plain());
  readonly bandsMs = new MapColumn(plain());
  readonly censored = plain();
  readonly censoredLatency = plain();
  readonly endedLatency = plain();
  readonly facet = new TextColumn();
  readonly value = plain();
  readonly eventTime = plain();
  readonly status = new TextColumn();
  readonly traceId = plain();
  readonly requestId = plain();
  readonly stagesMs = new MapColumn(new TextColumn());
  readonly groupId = new TextColumn();
  readonly topic = new TextColumn();
  readonly partition = plain();
  readonly startOffset = plain();
  readonly logMark = plain();
  readonly chunkMark = plain();
  readonly #columns: Readonly<Record<string, NativeColumn>>;

  constructor() {
    const texts = textDimensions.map((name) => [name, new TextColumn()]);
    this.texts = Object.fromEntries(texts) as typeof this.texts;
    this.#columns = {
      ...this.texts,
      kind: this.kind,
      window_start: this.windowStart,
      cold_start: this.coldStart,
      attributes: this.attributes,
      stage: this.stage,
      requests: this.requests,
      errors: this.errors,
      timeouts: this.timeouts,
      cancelled: this.cancelled,
      sum_ms: this.sumMs,
      min_ms: this.minMs,
      max_ms: this.maxMs,
      latency: this.latency,
      bands: this.bands,
      bands_ms: this.bandsMs,
      censored: this.censored,
      censored_latency: this.censoredLatency,
      ended_latency: this.endedLatency,
      facet: this.facet,
      value: this.value,
      event_time: this.eventTime,
      status: this.status,
      trace_id: this.traceId,
      request_id: this.requestId,
      stages_ms: this.stagesMs,
      group_id: this.groupId,
      topic: this.topic,
      partition: this.partition,
      start_offset: this.startOffset,
      log_mark: this.logMark,
      chunk_mark: this.chunkMark,
    };
  }

  reset(): void {
    for (const column of Object.values(this.#columns)) column.reset();
  }

  /** Copies all rows into a block of Native. */
  encode(rowCount: number): Buffer {
    return nativeBlock(this.#columns, chunkColumnTypes, rowCount);
  }
}
