import { grown } from '../../base/grown.ts';

const MIN_SPANS = 64;
/** Bits for each span: so few parents outside of a message hit one that is set. */
const BITS = 256;
const WORD_BITS = 32;
/** Parents looked for among all spans: ids that are made to hit cost no more. */
const MAX_HITS = 64;
const SPREAD = 0x9e37_79b1;

/**
 * Says cheaply that no span of a message is below another one, as in most messages of servers and clients:
 * their parents are in the messages of other processes. It looks at half of each id, so it may say that one
 * is where none is, and never the other way round.
 */
export class ParentFilter {
  #spans = new Int32Array(MIN_SPANS);
  #parents = new Int32Array(MIN_SPANS);
  #bits = new Int32Array((MIN_SPANS * BITS) / WORD_BITS);
  #spanCount = 0;
  #parentCount = 0;

  begin(): void {
    this.#spanCount = 0;
    this.#parentCount = 0;
  }

  /** Adds a span by the last halves of its id and its parent's; 0 for none. */
  add(span: number, parent: number): void {
    if (span !== 0) {
      if (this.#spanCount === this.#spans.length) this.#grow();
      this.#spans[this.#spanCount++] = span;
    }
    if (parent !== 0) {
      if (this.#parentCount === this.#parents.length) this.#grow();
      this.#parents[this.#parentCount++] = parent;
    }
  }

  /** True if a span may be below another one. O(spans) */
  mayNest(): boolean {
    const spans = this.#spans;
    const parents = this.#parents;
    const bits = this.#bits;
    if (this.#spanCount === 0 || this.#parentCount === 0) return false;
    let [words, shift] = [BITS / WORD_BITS, WORD_BITS - Math.log2(BITS)];
    for (; words * WORD_BITS < this.#spanCount * BITS && shift > 0; shift--) words *= 2;
    bits.fill(0, 0, words);
    for (let i = 0; i < this.#spanCount; i++) {
      const bit = Math.imul(spans[i] as number, SPREAD) >>> shift;
      bits[bit >>> 5] = (bits[bit >>> 5] as number) | (1 << (bit & 31));
    }
    let hits = 0;
    for (let i = 0; i < this.#parentCount; i++) {
      const parent = parents[i] as number;
      const bit = Math.imul(parent, SPREAD) >>> shift;
      if (((bits[bit >>> 5] as number) & (1 << (bit & 31))) === 0) continue;
      if (++hits > MAX_HITS || this.#hasSpan(parent)) return true;
    }
    return false;
  }

  #hasSpan(id: number): boolean {
    for (let i = 0; i < this.#spanCount; i++) if (this.#spans[i] === id) return true;
    return false;
  }

  #grow(): void {
    const length = this.#spans.length * 2;
    this.#spans = grown(this.#spans, length);
    this.#parents = grown(this.#parents, length);
    this.#bits = new Int32Array((length * BITS) / WORD_BITS);
  }
}
