import type { Checkpoint } from './checkpoints.ts';
import { type QueueNode, queueNode } from './linked-queue.ts';
import { noSpans, type SpanList, type SpanStore } from './span-store.ts';
import { spanKey, type TraceSpan } from './trace.ts';

/** Spans beyond which a trace keeps a set of their keys. */
const FEW_SPANS = 24;

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
  readonly #spans: SpanList = noSpans();
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
  keep(span: TraceSpan, maxSpans: number, store: SpanStore): number {
    const spans = this.#spans;
    if ((span.idHigh | span.idLow) !== 0 && this.#has(span, store)) {
      this.duplicates++;
      return 0;
    }
    if (spans.count >= maxSpans) {
      this.leftOut++;
      return 0;
    }
    store.add(spans, span);
    this.bytes += span.bytes;
    this.#keys?.add(spanKey(span));
    if (spans.count === FEW_SPANS) this.#keys = new Set(store.read(spans).map(spanKey));
    return span.bytes;
  }

  /** Returns the spans of a trace that closes; they leave the store. */
  takeSpans(store: SpanStore): readonly TraceSpan[] {
    const spans = store.read(this.#spans);
    this.dropSpans(store);
    return spans;
  }

  /** Removes the spans from the store. */
  dropSpans(store: SpanStore): void {
    store.free(this.#spans);
    this.#keys = undefined;
  }

  #has(span: TraceSpan, store: SpanStore): boolean {
    return this.#keys === undefined ? store.has(this.#spans, span) : this.#keys.has(spanKey(span));
  }
}
