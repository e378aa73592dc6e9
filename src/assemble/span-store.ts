import { ReusedSpan, type TraceSpan } from './trace.ts';

const MIN_SLOTS = 1_024;
/** Integers of a span: its id and its parent's. */
const ID_PARTS = 4;
const NONE = -1;
const IS_SHARED = 1;
const END_IS_SET = 2;
const HAS_DURATION = 4;
const HAS_EXTRAS = 8;

/** Stands for no span. */
export const NO_SPAN = NONE;

/** Fields that few spans have. */
type Extras = Pick<TraceSpan, 'fields' | 'full'>;

/**
 * Holds the spans of open traces in columns. Objects of millions of spans, each of which lives for as long as
 * its trace is open, would cost the garbage collector more than all else does. The spans of a trace are a list.
 */
export class SpanStore {
  #ids = new Int32Array(MIN_SLOTS * ID_PARTS);
  #durations = new Float64Array(MIN_SLOTS);
  #flags = new Uint8Array(MIN_SLOTS);
  /** The next span of the trace, or the next free slot. */
  #next = new Int32Array(MIN_SLOTS);
  /** Names and services are shared by many spans. */
  readonly #names: string[] = [];
  readonly #services: string[] = [];
  /** Of spans that may be the root, by slot. */
  readonly #extras = new Map<number, Extras>();
  #free = NONE;
  /** Slots that have ever been used. */
  #used = 0;
  /** Spans that `read` has returned, to be used again. */
  readonly #pool: ReusedSpan[] = [];

  /** Adds a span behind `last`, the end of its trace's list. Returns its slot. O(1). */
  add(last: number, span: TraceSpan): number {
    const slot = this.#slot();
    const at = slot * ID_PARTS;
    const ids = this.#ids;
    ids[at] = span.idHigh;
    ids[at + 1] = span.idLow;
    ids[at + 2] = span.parentHigh;
    ids[at + 3] = span.parentLow;
    const { durationMs, fields, full } = span;
    const hasExtras = fields !== undefined || full !== undefined;
    this.#durations[slot] = durationMs ?? 0;
    this.#flags[slot] =
      (span.isShared ? IS_SHARED : 0) |
      (span.endIsSet ? END_IS_SET : 0) |
      (durationMs === undefined ? 0 : HAS_DURATION) |
      (hasExtras ? HAS_EXTRAS : 0);
    this.#names[slot] = span.name;
    this.#services[slot] = span.service;
    this.#next[slot] = NONE;
    if (last !== NONE) this.#next[last] = slot;
    if (hasExtras) this.#extras.set(slot, { fields, full });
    return slot;
  }

  /** True if a list has a span of this id, and half. O(length). */
  has(first: number, { idHigh, idLow, isShared }: TraceSpan): boolean {
    const shared = isShared ? IS_SHARED : 0;
    for (let slot = first; slot !== NONE; slot = this.#next[slot] as number) {
      const at = slot * ID_PARTS;
      if (this.#ids[at + 1] !== idLow || this.#ids[at] !== idHigh) continue;
      if (((this.#flags[slot] as number) & IS_SHARED) === shared) return true;
    }
    return false;
  }

  /** Returns the spans of a list, in order. The next call overwrites them. O(length). */
  read(first: number): readonly TraceSpan[] {
    const spans: TraceSpan[] = [];
    for (let slot = first; slot !== NONE; slot = this.#next[slot] as number) {
      if (this.#pool.length === spans.length) this.#pool.push(new ReusedSpan());
      const span = this.#pool[spans.length] as ReusedSpan;
      const at = slot * ID_PARTS;
      const flags = this.#flags[slot] as number;
      span.idHigh = this.#ids[at] as number;
      span.idLow = this.#ids[at + 1] as number;
      span.parentHigh = this.#ids[at + 2] as number;
      span.parentLow = this.#ids[at + 3] as number;
      span.name = this.#names[slot] as string;
      span.service = this.#services[slot] as string;
      span.isShared = (flags & IS_SHARED) !== 0;
      span.endIsSet = (flags & END_IS_SET) !== 0;
      span.durationMs = (flags & HAS_DURATION) === 0 ? undefined : this.#durations[slot];
      const extras = (flags & HAS_EXTRAS) === 0 ? undefined : this.#extras.get(slot);
      span.fields = extras?.fields;
      span.full = extras?.full;
      spans.push(span);
    }
    return spans;
  }

  /** Frees the spans of a list. O(length). */
  free(first: number, last: number): void {
    if (first === NONE) return;
    for (let slot = first; slot !== NONE; slot = this.#next[slot] as number) {
      if (((this.#flags[slot] as number) & HAS_EXTRAS) !== 0) this.#extras.delete(slot);
    }
    this.#next[last] = this.#free;
    this.#free = first;
  }

  #slot(): number {
    const slot = this.#free;
    if (slot !== NONE) {
      this.#free = this.#next[slot] as number;
      return slot;
    }
    if (this.#used === this.#flags.length) this.#grow();
    return this.#used++;
  }

  #grow(): void {
    const slots = this.#flags.length * 2;
    const grown = <T extends Int32Array | Float64Array | Uint8Array>(old: T, larger: T): T => {
      larger.set(old);
      return larger;
    };
    this.#ids = grown(this.#ids, new Int32Array(slots * ID_PARTS));
    this.#durations = grown(this.#durations, new Float64Array(slots));
    this.#flags = grown(this.#flags, new Uint8Array(slots));
    this.#next = grown(this.#next, new Int32Array(slots));
  }
}
