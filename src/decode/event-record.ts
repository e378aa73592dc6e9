import { dimensions } from '../base/dimensions.ts';
import { limits } from '../base/limits.ts';

/** Where a record keeps what there is more than one of. */
export interface EventArrays {
  readonly dimensionIds: Int32Array;
  readonly stageIds: Int32Array;
  readonly stageMs: Float64Array;
}

const NO_BYTES = Buffer.alloc(0);

/**
 * One decoded timing event, in a record that the decoder overwrites for the next one: nothing is
 * allocated per event, so whoever receives it copies what it keeps. Strings are ids of the
 * decoder's interners. All durations are milliseconds.
 */
export class EventRecord implements EventArrays {
  /** Start of the request, milliseconds since the Unix epoch. */
  tsMs = 0;
  /** Index into `statuses`. */
  status = 0;
  /** Interned value per dimension (0: absent); `cold_start` holds 0 or 1 itself. */
  readonly dimensionIds: Int32Array;
  /** The total, given or summed from the stages; NaN where a partial event has none. */
  totalMs = Number.NaN;
  stageCount = 0;
  /** Ids of the decoder's stage interner; the first `stageCount` hold. */
  readonly stageIds: Int32Array;
  readonly stageMs: Float64Array;
  /** Facets: NaN where absent. */
  batchSize = Number.NaN;
  requestBytes = Number.NaN;
  inputTokens = Number.NaN;
  concurrency = Number.NaN;
  /** 1 hit, 0 miss, -1 absent. */
  cacheHit = -1;
  /** Where `trace_id` and `id` lie, for the few requests that become exemplars. */
  bytes: Buffer = NO_BYTES;
  traceStart = 0;
  traceEnd = 0;
  idStart = 0;
  idEnd = 0;

  /** @param arrays to keep them in; of its own by default. */
  constructor(arrays?: EventArrays) {
    this.dimensionIds = arrays?.dimensionIds ?? new Int32Array(dimensions.length);
    this.stageIds = arrays?.stageIds ?? new Int32Array(limits.stagesPerEvent);
    this.stageMs = arrays?.stageMs ?? new Float64Array(limits.stagesPerEvent);
  }

  /** Text of `trace_id`, '' if absent. Allocates: only for exemplars. */
  traceId(): string {
    return this.bytes.toString('utf8', this.traceStart, this.traceEnd);
  }

  /** Text of `id`, '' if absent. Allocates: only for exemplars. */
  requestId(): string {
    return this.bytes.toString('utf8', this.idStart, this.idEnd);
  }
}
