import type { RejectReason } from '../../../decode/reject-reasons.ts';
import type { EventDraft, Origin } from '../../format-reader.ts';

/** Receives what becomes of spans: a sink of drafts is one. */
export interface SpanEventSink {
  draft(event: EventDraft, origin: Origin): void;
  reject(reason: RejectReason, detail: string, origin: Origin): void;
  skip(count: number): void;
}

/** Returns why a span has no duration; undefined where it may have one. */
export function unendedReject({
  endIsSet,
  durationMs = 0,
}: {
  readonly endIsSet: boolean;
  readonly durationMs: number | undefined;
}) {
  if (!endIsSet) {
    const detail = 'The end of the span must be set, and is 0 or no time.';
    return { reason: 'no_end', detail } as const;
  }
  if (!(durationMs < 0)) return undefined;
  const detail = `The span must not end before it starts, and ends ${-durationMs} ms before.`;
  return { reason: 'ends_before_start', detail } as const;
}
