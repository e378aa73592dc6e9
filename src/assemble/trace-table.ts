import { highHalfOf, lowHalfOf } from '../formats/spans/trace/ids.ts';
import type { Checkpoint } from './checkpoints.ts';
import { SlotQueue } from './slot-queue.ts';
import { NO_SPAN, SpanStore } from './span-store.ts';
import { spanKey, type TraceSpan } from './trace.ts';

const MIN_SLOTS = 1_024;
/** Spans beyond which a trace keeps a set of their keys. */
const FEW_SPANS = 24;

/** Returned where a trace is not known. */
export const UNKNOWN = -1;

/**
 * The traces of a partition that are open, or closed and remembered, each in a slot. They lie in columns, as
 * their spans do: as objects, hundreds of thousands of them would cost the garbage collector too much.
 */
export class TraceTable {
  /** Slots of the traces whose id has more than 16 digits, by all of them. */
  readonly #byId = new Map<string, number>();
  /** Slot of the newest trace whose id ends with these 16 digits. Nearly always there is one. */
  readonly #byLowHalf = new Map<string, number>();
  readonly #spans = new SpanStore();
  /** Keys of the spans of a trace, once there are many. */
  readonly #keys = new Map<number, Set<string>>();
  /** The open ones by age and by last span, and all by last span. */
  readonly openByAge = new SlotQueue();
  readonly openByLast = new SlotQueue();
  readonly knownByLast = new SlotQueue();
  readonly #free: number[] = [];
  /** Slots that have ever been used. */
  #used = 0;
  /** The trace that was looked up last: most spans are of the trace of the span before. */
  #lastId = '';
  #lastSlot = UNKNOWN;

  /** The id of each trace: with 32 digits, once a span had them. */
  readonly ids: string[] = [];
  readonly #lowHalves: string[] = [];
  /** '' where no span had more than 16 digits. */
  readonly #highHalves: string[] = [];
  /** The traces before and behind one of those that end with the same 16 digits. */
  #newer = new Int32Array(0);
  #older = new Int32Array(0);
  readonly checkpoints: (Checkpoint | undefined)[] = [];
  /** Place of the first span. */
  offsets = new Float64Array(0);
  indexes = new Int32Array(0);
  /** Times of the first span and the last one. */
  firstMs = new Float64Array(0);
  lastMs = new Float64Array(0);
  isOpen = new Uint8Array(0);
  /** Memory of the spans, estimated. */
  bytes = new Float64Array(0);
  leftOut = new Int32Array(0);
  duplicates = new Int32Array(0);
  #spanCounts = new Int32Array(0);
  #firstSpans = new Int32Array(0);
  #lastSpans = new Int32Array(0);

  get size(): number {
    return this.knownByLast.size;
  }

  /**
   * Returns the slot of a trace, or `UNKNOWN`. Ids of up to 16 digits are of the trace whose id ends with them.
   * Ids of 32 digits that differ are of different traces, also where both end with the same 16.
   */
  find(id: string): number {
    if (id === this.#lastId) return this.#lastSlot;
    const slot = this.#find(id);
    this.#lastId = id;
    this.#lastSlot = slot;
    return slot;
  }

  #find(id: string): number {
    const [high, low] = [highHalfOf(id), lowHalfOf(id)];
    const newest = this.#byLowHalf.get(low) ?? UNKNOWN;
    if (newest === UNKNOWN || high === '') return newest;
    const known = this.#highHalves[newest] as string;
    if (known === high) return newest;
    if (known !== '') return this.#byId.get(high + low) ?? UNKNOWN;
    this.ids[newest] = id;
    this.#highHalves[newest] = high;
    this.#byId.set(high + low, newest);
    return newest;
  }

  /** Adds an open trace that is not known. Returns its slot. */
  add(id: string, checkpoint: Checkpoint, offset: number, index: number, nowMs: number): number {
    if (this.#free.length === 0 && this.#used === this.isOpen.length) this.#grow();
    const slot = this.#free.pop() ?? this.#used++;
    this.#name(slot, id);
    this.#lastId = id;
    this.#lastSlot = slot;
    this.checkpoints[slot] = checkpoint;
    checkpoint.traces++;
    this.offsets[slot] = offset;
    this.indexes[slot] = index;
    this.firstMs[slot] = nowMs;
    this.lastMs[slot] = nowMs;
    this.isOpen[slot] = 1;
    this.bytes[slot] = 0;
    this.leftOut[slot] = 0;
    this.duplicates[slot] = 0;
    this.#noSpans(slot);
    this.openByAge.push(slot);
    this.openByLast.push(slot);
    this.knownByLast.push(slot);
    return slot;
  }

  /** Takes note of a span of a trace at `nowMs`. */
  touch(slot: number, nowMs: number): void {
    this.lastMs[slot] = nowMs;
    this.knownByLast.touch(slot);
    if (this.isOpen[slot] === 1) this.openByLast.touch(slot);
  }

  /** Adds a span, unless it is there already or is one too many. Returns the bytes that it added. */
  keep(slot: number, span: TraceSpan, maxSpans: number): number {
    if ((span.idHigh | span.idLow) !== 0 && this.#has(slot, span)) {
      this.duplicates[slot]!++;
      return 0;
    }
    const count = this.#spanCounts[slot] as number;
    if (count >= maxSpans) {
      this.leftOut[slot]!++;
      return 0;
    }
    const at = this.#spans.add(this.#lastSpans[slot] as number, span);
    if (count === 0) this.#firstSpans[slot] = at;
    this.#lastSpans[slot] = at;
    this.#spanCounts[slot] = count + 1;
    this.bytes[slot]! += span.bytes;
    if (count >= FEW_SPANS) this.#keysOf(slot).add(spanKey(span));
    return span.bytes;
  }

  /** Closes an open trace, whose spans are `takeSpans` or `dropSpans` to be. */
  close(slot: number): void {
    this.openByAge.remove(slot);
    this.openByLast.remove(slot);
    this.isOpen[slot] = 0;
  }

  /** Returns the spans of a trace that is closed, which has none afterwards. The next call overwrites them. */
  takeSpans(slot: number): readonly TraceSpan[] {
    const spans = this.#spans.read(this.#firstSpans[slot] as number);
    this.dropSpans(slot);
    return spans;
  }

  dropSpans(slot: number): void {
    this.#spans.free(this.#firstSpans[slot] as number, this.#lastSpans[slot] as number);
    if (this.#keys.size > 0) this.#keys.delete(slot);
    this.#noSpans(slot);
  }

  /** Removes a trace that is closed. */
  forget(slot: number): void {
    const checkpoint = this.checkpoints[slot];
    if (checkpoint !== undefined) checkpoint.traces--;
    this.knownByLast.remove(slot);
    this.#unname(slot);
    this.#lastId = '';
    this.#lastSlot = UNKNOWN;
    this.checkpoints[slot] = undefined;
    this.#free.push(slot);
  }

  #name(slot: number, id: string): void {
    const [high, low] = [highHalfOf(id), lowHalfOf(id)];
    const older = this.#byLowHalf.get(low) ?? UNKNOWN;
    this.ids[slot] = id;
    this.#lowHalves[slot] = low;
    this.#highHalves[slot] = high;
    this.#newer[slot] = UNKNOWN;
    this.#older[slot] = older;
    if (older !== UNKNOWN) this.#newer[older] = slot;
    this.#byLowHalf.set(low, slot);
    if (high !== '') this.#byId.set(high + low, slot);
  }

  #unname(slot: number): void {
    const [high, low] = [this.#highHalves[slot] as string, this.#lowHalves[slot] as string];
    const newer = this.#newer[slot] as number;
    const older = this.#older[slot] as number;
    if (high !== '') this.#byId.delete(high + low);
    if (older !== UNKNOWN) this.#newer[older] = newer;
    if (newer !== UNKNOWN) this.#older[newer] = older;
    else if (older === UNKNOWN) this.#byLowHalf.delete(low);
    else this.#byLowHalf.set(low, older);
    this.ids[slot] = '';
    this.#lowHalves[slot] = '';
    this.#highHalves[slot] = '';
  }

  #noSpans(slot: number): void {
    this.#spanCounts[slot] = 0;
    this.#firstSpans[slot] = NO_SPAN;
    this.#lastSpans[slot] = NO_SPAN;
  }

  #has(slot: number, span: TraceSpan): boolean {
    if ((this.#spanCounts[slot] as number) > FEW_SPANS) {
      return this.#keysOf(slot).has(spanKey(span));
    }
    return this.#spans.has(this.#firstSpans[slot] as number, span);
  }

  #keysOf(slot: number): Set<string> {
    let keys = this.#keys.get(slot);
    if (keys === undefined) {
      keys = new Set(this.#spans.read(this.#firstSpans[slot] as number).map(spanKey));
      this.#keys.set(slot, keys);
    }
    return keys;
  }

  #grow(): void {
    const slots = Math.max(MIN_SLOTS, this.isOpen.length * 2);
    this.offsets = larger(this.offsets, new Float64Array(slots));
    this.indexes = larger(this.indexes, new Int32Array(slots));
    this.#newer = larger(this.#newer, new Int32Array(slots));
    this.#older = larger(this.#older, new Int32Array(slots));
    this.firstMs = larger(this.firstMs, new Float64Array(slots));
    this.lastMs = larger(this.lastMs, new Float64Array(slots));
    this.isOpen = larger(this.isOpen, new Uint8Array(slots));
    this.bytes = larger(this.bytes, new Float64Array(slots));
    this.leftOut = larger(this.leftOut, new Int32Array(slots));
    this.duplicates = larger(this.duplicates, new Int32Array(slots));
    this.#spanCounts = larger(this.#spanCounts, new Int32Array(slots));
    this.#firstSpans = larger(this.#firstSpans, new Int32Array(slots));
    this.#lastSpans = larger(this.#lastSpans, new Int32Array(slots));
    for (const queue of [this.openByAge, this.openByLast, this.knownByLast]) queue.grow(slots);
  }
}

function larger<T extends Float64Array | Int32Array | Uint8Array>(old: T, bigger: T): T {
  bigger.set(old);
  return bigger;
}
