import type { RejectReason } from '../../decode/reject-reasons.ts';
import type { Origin } from '../../formats/format-reader.ts';
import type { TraceSpan } from '../trace.ts';

/** Receives the spans of a message with their trace ids, in order. */
export interface TraceSpanSink {
  span(traceId: string, span: TraceSpan): void;
  /**
   * Receives what stands where a span should, and spans without a trace id.
   *
   * @param detail one sentence.
   * @param reason of what is beyond a limit. @default {that of what the format cannot read}
   */
  malformed(detail: string, origin: Origin, reason?: RejectReason): void;
}
