/** State of the host that a request meets. */
export interface Admission {
  /** Milliseconds until one of the host's slots is free for the request. */
  waitMs: number;
  /** Requests on the host, including this one. */
  concurrency: number;
  /** Requests that already wait. */
  queueDepth: number;
}

/**
 * Simulates first come, first served over a host's slots: the recursion of Lindley (1952) for one slot, of
 * Kiefer and Wolfowitz (1955) for several. Times are milliseconds on any one axis, and arrivals are in order.
 * O(log slots) an arrival; memory is the slots and the waiting requests.
 */
export class HostQueue {
  /** Times at which each slot is free again: a binary heap of that many slots, the earliest first. */
  #freeAtMs: Float64Array;
  #slots: number;
  /** Start times of waiting requests, in order: a ring. */
  #startsMs = new Float64Array(64);
  #head = 0;
  #waiting = 0;

  constructor(slots: number) {
    this.#freeAtMs = new Float64Array(slots);
    this.#slots = slots;
  }

  /**
   * Changes the number of slots, to 1 or more. A busy slot is removed by a later call, once it is free.
   * O(change × log slots).
   */
  resize(slots: number, nowMs: number): void {
    if (slots > this.#freeAtMs.length) {
      const larger = new Float64Array(2 * slots);
      larger.set(this.#freeAtMs);
      this.#freeAtMs = larger;
    }
    while (this.#slots < slots) this.#add(nowMs);
    while (this.#slots > slots && (this.#freeAtMs[0] as number) <= nowMs) {
      this.#slots--;
      this.#replaceEarliest(this.#freeAtMs[this.#slots] as number);
    }
  }

  /** Reads the host's state as an arrival would; occupies no slot. */
  peek(nowMs: number, into: Admission): void {
    const ring = this.#startsMs;
    while (this.#waiting > 0 && (ring[this.#head] as number) <= nowMs) {
      this.#head = (this.#head + 1) & (ring.length - 1);
      this.#waiting--;
    }
    let busy = 0;
    const slots = this.#freeAtMs;
    for (let i = 0; i < this.#slots; i++) if ((slots[i] as number) > nowMs) busy++;
    into.waitMs = Math.max(0, (this.#freeAtMs[0] as number) - nowMs);
    into.queueDepth = this.#waiting;
    into.concurrency = busy + this.#waiting + 1;
  }

  /** Occupies the slot that is free first, for `holdMs`, as soon as it is free. */
  occupy(nowMs: number, holdMs: number): void {
    const startMs = Math.max(nowMs, this.#freeAtMs[0] as number);
    if (startMs > nowMs) this.#enqueue(startMs);
    this.#replaceEarliest(startMs + holdMs);
  }

  #enqueue(startMs: number): void {
    const ring = this.#startsMs;
    if (this.#waiting === ring.length) {
      const larger = new Float64Array(ring.length * 2);
      for (let i = 0; i < ring.length; i++) {
        larger[i] = ring[(this.#head + i) & (ring.length - 1)] as number;
      }
      this.#startsMs = larger;
      this.#head = 0;
    }
    const starts = this.#startsMs;
    const mask = starts.length - 1;
    let at = this.#waiting++;
    // Added slots serve new arrivals before some that already wait.
    for (; at > 0; at--) {
      const before = starts[(this.#head + at - 1) & mask] as number;
      if (before <= startMs) break;
      starts[(this.#head + at) & mask] = before;
    }
    starts[(this.#head + at) & mask] = startMs;
  }

  /** Adds a slot that is free from the given time on. */
  #add(freeAtMs: number): void {
    const heap = this.#freeAtMs;
    let at = this.#slots++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if ((heap[parent] as number) <= freeAtMs) break;
      heap[at] = heap[parent] as number;
      at = parent;
    }
    heap[at] = freeAtMs;
  }

  #replaceEarliest(freeAtMs: number): void {
    const heap = this.#freeAtMs;
    const size = this.#slots;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= size) break;
      if (child + 1 < size && (heap[child + 1] as number) < (heap[child] as number)) child++;
      if ((heap[child] as number) >= freeAtMs) break;
      heap[at] = heap[child] as number;
      at = child;
    }
    heap[at] = freeAtMs;
  }
}
