import type { Checkpoint } from './checkpoints.ts';
import { type QueueNode, queueNode } from './linked-queue.ts';
import { spanKey, type TraceSpan } from './trace.ts';

/** Spans beyond which a trace keeps a set of their keys. */
const FEW_SPANS = 24;
const NO_SPANS: TraceSpan[] = [];

/** A trace that is open, or closed and remembered. */
export class KnownTrace {
  readonly id: string;
  readonly checkpoint: Checkpoint;
  /** Where its first span was. */
  readonly offset: number;
  readonly index: number;
  readonly firstMs: number;
  /** Time of its last span. */
  lastMs: number;
  isOpen = true;
  spans: TraceSpan[] = [];
  /** Keys of the spans, once there are many. */
  #keys: Set<string> | undefined;
  leftOut = 0;
  duplicates = 0;
  bytes = 0;
  /** Place among the open ones by age. */
  readonly byAge: QueueNode<KnownTrace> = queueNode<KnownTrace>(this);
  /** Place among the open ones by last span. */
  readonly byLast: QueueNode<KnownTrace> = queueNode<KnownTrace>(this);
  /** Place among all that are known by last span. */
  readonly byLastOfAll: QueueNode<KnownTrace> = queueNode<KnownTrace>(this);

  constructor(id: string, checkpoint: Checkpoint, offset: number, index: number, firstMs: number) {
    this.id = id;
    this.checkpoint = checkpoint;
    this.offset = offset;
    this.index = index;
    this.firstMs = firstMs;
    this.lastMs = firstMs;
  }

  /** Adds a span, unless it is there already or is one too many. Returns the bytes that it added. */
  keep(span: TraceSpan, maxSpans: number): number {
    const key = spanKey(span);
    if (key !== '' && this.#has(key)) {
      this.duplicates++;
      return 0;
    }
    if (this.spans.length >= maxSpans) {
      this.leftOut++;
      return 0;
    }
    this.spans.push(span);
    this.bytes += span.bytes;
    this.#keys?.add(key);
    if (this.spans.length === FEW_SPANS) this.#keys = new Set(this.spans.map(spanKey));
    return span.bytes;
  }

  /** Lets go of the spans of a closed trace. */
  takeSpans(): readonly TraceSpan[] {
    const { spans } = this;
    this.spans = NO_SPANS;
    this.#keys = undefined;
    return spans;
  }

  #has(key: string): boolean {
    if (this.#keys !== undefined) return this.#keys.has(key);
    for (const span of this.spans) if (spanKey(span) === key) return true;
    return false;
  }
}
