import { grown } from '../../../base/grown.ts';
import type { Span } from '../../span.ts';
import { highHalfOf, idHalves, lowHalfOf } from './ids.ts';

/** Integers kept of a span: two for each half of its trace's id, two for its own id and two for its parent's. */
const NUMBERS = 8;
const TRACE_LOW = 2;
const ID = 4;
const PARENT = 6;
const NONE = -1;
const MIN_SPANS = 64;
/** Places of the table for each span, and how many of them are tried for one: no ids make the table slow. */
const PLACES = 4;
const MAX_TRIES = 64;

/**
 * The spans of a message or a file with those below them, by their ids. Of one trace some spans may have 16
 * digits of its id, and some 32. A span that is there several times is one. Memory is used again from message to
 * message.
 */
export class SpanLinks {
  #ids = new Int32Array(MIN_SPANS * NUMBERS);
  /** First span of each id, by the id's hash. */
  #table = new Int32Array(0);
  /** The first span with the id of each one. */
  #first = new Int32Array(0);
  /** A child of a span, and the next child of the same parent. */
  #child = new Int32Array(0);
  #sibling = new Int32Array(0);
  /** The last search that came by a span. */
  #visits = new Int32Array(0);
  #visit = 0;
  readonly #stack: number[] = [];
  #size = 0;
  #hasParents = false;

  /** Forgets all spans. */
  begin(): void {
    this.#size = 0;
    this.#hasParents = false;
  }

  /** Adds the next span. */
  add({ traceId, spanId, parentSpanId }: Pick<Span, 'traceId' | 'spanId' | 'parentSpanId'>): void {
    const at = this.#next();
    [highHalfOf(traceId), lowHalfOf(traceId), spanId, parentSpanId].forEach((id, place) => {
      const { high, low } = idHalves(id);
      this.#ids[at + 2 * place] = high;
      this.#ids[at + 2 * place + 1] = low;
    });
    this.#hasParents ||= parentSpanId !== '';
  }

  /** Adds the next span. @param numbers four of its trace's id, two of its own and two of its parent's */
  addNumbers(numbers: Int32Array): void {
    const at = this.#next();
    for (let i = 0; i < NUMBERS; i++) this.#ids[at + i] = numbers[i] as number;
    this.#hasParents ||= ((numbers[PARENT] as number) | (numbers[PARENT + 1] as number)) !== 0;
  }

  /** Links the spans that were added. Returns false where none is below another one. O(spans) */
  link(): boolean {
    const size = this.#size;
    if (!this.#hasParents || size < 2) return false;
    if (this.#first.length < size) this.#grow();
    let places = PLACES;
    while (places < PLACES * size) places *= 2;
    if (this.#table.length < places) this.#table = new Int32Array(places);
    this.#table.fill(NONE, 0, places);
    for (let span = 0; span < size; span++) this.#first[span] = this.#enter(span, places - 1);
    this.#child.fill(NONE, 0, size);
    let isLinked = false;
    for (let span = 0; span < size; span++) {
      const parent = this.#find(span, PARENT, places - 1);
      if (parent === NONE || parent === this.#first[span]) continue;
      this.#sibling[span] = this.#child[parent] as number;
      this.#child[parent] = span;
      isLinked = true;
    }
    return isLinked;
  }

  /** True if spans are below a span, of the last `link`. */
  hasChildren(span: number): boolean {
    return this.#child[this.#first[span] as number] !== NONE;
  }

  /** True if one of the spans below a span is such a span, at any depth. */
  isAbove(span: number, isSuch: (below: number) => boolean): boolean {
    const visit = ++this.#visit;
    const stack = this.#stack;
    const top = this.#first[span] as number;
    this.#visits[top] = visit;
    stack.length = 0;
    stack.push(top);
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      for (let child = this.#child[at] as number; child !== NONE; ) {
        const first = this.#first[child] as number;
        if (first !== top && isSuch(child)) return true;
        // Parents that form a circle are passed once.
        if (this.#visits[first] !== visit) stack.push(first);
        this.#visits[first] = visit;
        child = this.#sibling[child] as number;
      }
    }
    return false;
  }

  #next(): number {
    const at = this.#size++ * NUMBERS;
    if (at === this.#ids.length) this.#ids = grown(this.#ids, 2 * at);
    return at;
  }

  #grow(): void {
    const length = this.#ids.length / NUMBERS;
    this.#first = new Int32Array(length);
    this.#child = new Int32Array(length);
    this.#sibling = new Int32Array(length);
    this.#visits = new Int32Array(length);
  }

  /** Returns the first span with the id of a span, which may be the span itself. */
  #enter(span: number, mask: number): number {
    const at = span * NUMBERS + ID;
    if (((this.#ids[at] as number) | (this.#ids[at + 1] as number)) === 0) return span;
    let place = this.#hash(at, mask);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const there = this.#table[place] as number;
      if (there === NONE) {
        this.#table[place] = span;
        return span;
      }
      if (this.#isSame(there, span, ID)) return there;
      place = (place + 1) & mask;
    }
    return span;
  }

  /** Returns the first span whose id a span has as its own or its parent's; `NONE` without one. */
  #find(span: number, part: number, mask: number): number {
    const at = span * NUMBERS + part;
    if (((this.#ids[at] as number) | (this.#ids[at + 1] as number)) === 0) return NONE;
    let place = this.#hash(at, mask);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const there = this.#table[place] as number;
      if (there === NONE || this.#isSame(there, span, part)) return there;
      place = (place + 1) & mask;
    }
    return NONE;
  }

  #hash(at: number, mask: number): number {
    const mixed = (this.#ids[at + 1] as number) ^ Math.imul(this.#ids[at] as number, 0x9e37_79b1);
    const spread = Math.imul(mixed ^ (mixed >>> 15), 0x85eb_ca6b);
    return (spread ^ (spread >>> 13)) & mask;
  }

  /** True if another span of the same trace has this span's id. */
  #isSame(one: number, other: number, part: number): boolean {
    const ids = this.#ids;
    const [a, b] = [one * NUMBERS, other * NUMBERS];
    if (ids[a + ID + 1] !== ids[b + part + 1] || ids[a + ID] !== ids[b + part]) return false;
    if (ids[a + TRACE_LOW] !== ids[b + TRACE_LOW]) return false;
    if (ids[a + TRACE_LOW + 1] !== ids[b + TRACE_LOW + 1]) return false;
    if (ids[a] === ids[b] && ids[a + 1] === ids[b + 1]) return true;
    return (
      ((ids[a] as number) | (ids[a + 1] as number)) === 0 ||
      ((ids[b] as number) | (ids[b + 1] as number)) === 0
    );
  }
}
