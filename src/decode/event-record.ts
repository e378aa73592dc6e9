import { dimensions } from '../base/dimensions.ts';
import { limits } from '../base/limits.ts';

const NO_BYTES = Buffer.alloc(0);

/**
 * One decoded timing event, in a record that the decoder overwrites for the next one: nothing is
 * allocated per event, so whoever receives it copies what it keeps. Strings are ids of the
 * decoder's interners. All durations are milliseconds.
 */
export class EventRecord {
  /** Start of the request, milliseconds since the Unix epoch. */
  tsMs = 0;
  /** Index into `statuses`. */
  status = 0;
  /** Interned value per dimension (0: absent); `cold_start` holds 0 or 1 itself. */
  readonly dimensionIds = new Int32Array(dimensions.length);
  /** The total, given or summed from the stages; NaN where a partial event has none. */
  totalMs = Number.NaN;
  stageCount = 0;
  /** Ids of the decoder's stage interner; the first `stageCount` hold. */
  readonly stageIds = new Int32Array(limits.stagesPerEvent);
  readonly stageMs = new Float64Array(limits.stagesPerEvent);
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

  /** Text of `trace_id`, '' if absent. Allocates: only for exemplars. */
  traceId(): string {
    return this.bytes.toString('utf8', this.traceStart, this.traceEnd);
  }

  /** Text of `id`, '' if absent. Allocates: only for exemplars. */
  requestId(): string {
    return this.bytes.toString('utf8', this.idStart, this.idEnd);
  }
}
