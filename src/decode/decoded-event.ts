import { dimensions } from '../base/dimensions.ts';
import { amountFacets } from '../base/facets.ts';
import { grown } from '../base/grown.ts';
import { limits } from '../base/limits.ts';

const NO_BYTES = Buffer.alloc(0);
/** Room for the gaps of the first event that has some. */
const leastGaps = 256;
const NO_GAPS = new Float64Array(0);

/**
 * One decoded timing event. The decoder overwrites the event for the next event, without allocation, so a
 * receiver copies values that it keeps. Strings are ids of the decoder's interners. All durations are
 * milliseconds.
 */
export class DecodedEvent {
  /** Start of the request, milliseconds since the Unix epoch. */
  tsMs = 0;
  /** Index into `statuses`. */
  status = 0;
  /** Interned value per dimension (0: absent); `cold_start` holds 0 or 1 itself. */
  readonly dimensionIds: Int32Array;
  /** Interned text of the own dimensions (0: none). */
  attributesId = 0;
  /** Interned value per own facet (0: absent), in the order of `windows.facets`. */
  readonly attributeFacetIds = new Int32Array(limits.ownFacets);
  /** Total, given or summed up from the stages that are parts; NaN for a partial event without one. */
  totalMs = Number.NaN;
  /** Without a total: how long the request took at least, by its stages. Not set where there is a total. */
  leastMs = Number.NaN;
  stageCount = 0;
  /** Ids of the decoder's stage interner, of stages of all kinds; the first `stageCount` are valid. */
  readonly stageIds: Int32Array;
  readonly stageMs: Float64Array;
  /** Gaps between the tokens of the answer: the first `gapCount`. */
  gapsMs: Float64Array<ArrayBuffer> = NO_GAPS;
  gapCount = 0;
  /** Facets that are numbers, in the order of `amountFacets`; NaN where absent. */
  readonly amounts: Float64Array;
  /** Requests that the event stands for. */
  weight = 1;
  /** Optional texts that were too long, a bit each (`LongTexts`). */
  longTexts = 0;
  /** 1 hit, 0 miss, -1 absent. */
  cacheHit = -1;
  /** Positions of `trace_id` and `id`, for the few requests that become exemplars. */
  bytes: Buffer = NO_BYTES;
  traceStart = 0;
  traceEnd = 0;
  idStart = 0;
  idEnd = 0;
  /** `hex` where the trace's id is not a text but the bytes themselves. */
  traceEncoding: 'utf8' | 'hex' = 'utf8';

  /** @param arrays of the event; its own by default. */
  constructor(arrays?: Pick<DecodedEvent, 'dimensionIds' | 'stageIds' | 'stageMs' | 'amounts'>) {
    this.dimensionIds = arrays?.dimensionIds ?? new Int32Array(dimensions.length);
    this.stageIds = arrays?.stageIds ?? new Int32Array(limits.durationsPerEvent);
    this.stageMs = arrays?.stageMs ?? new Float64Array(limits.durationsPerEvent);
    this.amounts = arrays?.amounts ?? new Float64Array(amountFacets.length).fill(Number.NaN);
  }

  /** Adds a gap. Allocates only for an event with more of them than any before. */
  addGap(ms: number): void {
    const n = this.gapCount;
    if (n === this.gapsMs.length) this.gapsMs = grown(this.gapsMs, n + leastGaps);
    this.gapsMs[n] = ms;
    this.gapCount = n + 1;
  }

  /** Text of `trace_id`, '' if absent. Allocates: only for exemplars. */
  traceId(): string {
    return this.bytes.toString(this.traceEncoding, this.traceStart, this.traceEnd);
  }

  /** Text of `id`, '' if absent. Allocates: only for exemplars. */
  requestId(): string {
    return this.bytes.toString('utf8', this.idStart, this.idEnd);
  }
}
