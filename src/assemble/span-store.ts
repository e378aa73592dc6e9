import type { TraceSpan } from './trace.ts';

const MIN_SLOTS = 1_024;
/** Integers of a span: its id and its parent's. */
const ID_PARTS = 4;
const NONE = -1;
const IS_SHARED = 1;
const END_IS_SET = 2;
const HAS_DURATION = 4;

/** What few spans have. */
type Extras = Pick<TraceSpan, 'fields' | 'full'>;

/** The spans of a trace in a store. */
export interface SpanList {
  first: number;
  last: number;
  count: number;
  /** Of spans that may be the root, by slot. */
  extras: { readonly slot: number; readonly extras: Extras }[] | undefined;
}

export function noSpans(): SpanList {
  return { first: NONE, last: NONE, count: 0, extras: undefined };
}

/**
 * Holds the spans of open traces in columns. Objects of millions of spans, each of which lives for as long as
 * its trace is open, would cost the garbage collector more than all else does. Adding a span is O(1).
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
  #free = NONE;
  /** Slots that have ever been used. */
  #used = 0;

  add(list: SpanList, span: TraceSpan): void {
    const slot = this.#slot();
    const at = slot * ID_PARTS;
    const ids = this.#ids;
    ids[at] = span.idHigh;
    ids[at + 1] = span.idLow;
    ids[at + 2] = span.parentHigh;
    ids[at + 3] = span.parentLow;
    const { durationMs } = span;
    this.#durations[slot] = durationMs ?? 0;
    this.#flags[slot] =
      (span.isShared ? IS_SHARED : 0) |
      (span.endIsSet ? END_IS_SET : 0) |
      (durationMs === undefined ? 0 : HAS_DURATION);
    this.#names[slot] = span.name;
    this.#services[slot] = span.service;
    this.#next[slot] = NONE;
    if (list.last === NONE) list.first = slot;
    else this.#next[list.last] = slot;
    list.last = slot;
    list.count++;
    if (span.fields === undefined && span.full === undefined) return;
    list.extras ??= [];
    list.extras.push({ slot, extras: { fields: span.fields, full: span.full } });
  }

  /** Whether a list has a span of this id, and half. O(length). */
  has({ first }: SpanList, { idHigh, idLow, isShared }: TraceSpan): boolean {
    const shared = isShared ? IS_SHARED : 0;
    for (let slot = first; slot !== NONE; slot = this.#next[slot] as number) {
      const at = slot * ID_PARTS;
      if (this.#ids[at + 1] !== idLow || this.#ids[at] !== idHigh) continue;
      if (((this.#flags[slot] as number) & IS_SHARED) === shared) return true;
    }
    return false;
  }

  /** Returns the spans of a list, in order. */
  read({ first, extras }: SpanList): TraceSpan[] {
    const spans: TraceSpan[] = [];
    let more = 0;
    for (let slot = first; slot !== NONE; slot = this.#next[slot] as number) {
      const at = slot * ID_PARTS;
      const flags = this.#flags[slot] as number;
      const extra = extras?.[more];
      const own = extra?.slot === slot ? extra.extras : undefined;
      if (own !== undefined) more++;
      spans.push({
        idHigh: this.#ids[at] as number,
        idLow: this.#ids[at + 1] as number,
        parentHigh: this.#ids[at + 2] as number,
        parentLow: this.#ids[at + 3] as number,
        name: this.#names[slot] as string,
        service: this.#services[slot] as string,
        isShared: (flags & IS_SHARED) !== 0,
        endIsSet: (flags & END_IS_SET) !== 0,
        durationMs: (flags & HAS_DURATION) === 0 ? undefined : (this.#durations[slot] as number),
        fields: own?.fields,
        full: own?.full,
        bytes: 0,
      });
    }
    return spans;
  }

  /** Frees the spans of a list, which is empty then. */
  free(list: SpanList): void {
    if (list.last !== NONE) {
      this.#next[list.last] = this.#free;
      this.#free = list.first;
    }
    list.first = NONE;
    list.last = NONE;
    list.count = 0;
    list.extras = undefined;
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
