import type { LogClock, LogClockState } from './log-clock.ts';

/** A place to begin to read at, and the traces that began after it and before the next one. */
export interface Checkpoint {
  readonly offset: number;
  /** The clock before the record at `offset`. */
  readonly clock: LogClockState;
  /** Traces that are known. */
  traces: number;
}

/** Time between two checkpoints, at least. */
const INTERVAL_MS = 1_000;

/** The places of a log to begin to read at, in order. */
export class Checkpoints {
  #list: Checkpoint[];
  #latest: Checkpoint;
  /** The first that is kept. */
  #start = 0;
  /** Dropped ones with traces that are still known. */
  #dropped: Checkpoint[] = [];

  constructor(first: Omit<Checkpoint, 'traces'>) {
    this.#latest = { ...first, traces: 0 };
    this.#list = [this.#latest];
  }

  get latest(): Checkpoint {
    return this.#latest;
  }

  /** Begins a new one where the latest is old enough. To be called before the clock sees the record. */
  observe(offset: number, clock: LogClock): void {
    if (clock.nowMs - this.#latest.clock.nowMs < INTERVAL_MS) return;
    this.#latest = { offset, clock: clock.state, traces: 0 };
    this.#list.push(this.#latest);
  }

  /** The first with known traces; undefined without any. */
  firstInUse(): Checkpoint | undefined {
    this.#dropped = this.#dropped.filter(({ traces }) => traces > 0);
    const [dropped] = this.#dropped;
    if (dropped !== undefined) return dropped;
    for (let i = this.#start; i < this.#list.length; i++) {
      const checkpoint = this.#list[i] as Checkpoint;
      if (checkpoint.traces > 0) return checkpoint;
    }
    return undefined;
  }

  /** The last one at or before a time of the clock; undefined where all are later. */
  lastAt(nowMs: number): Checkpoint | undefined {
    let found: Checkpoint | undefined;
    for (let i = this.#start; i < this.#list.length; i++) {
      const checkpoint = this.#list[i] as Checkpoint;
      if (checkpoint.clock.nowMs > nowMs) break;
      found = checkpoint;
    }
    return found;
  }

  /** Drops those before another one. The latest stays. */
  dropBefore(offset: number): void {
    for (; this.#start < this.#list.length - 1; this.#start++) {
      const checkpoint = this.#list[this.#start] as Checkpoint;
      if (checkpoint.offset >= offset) break;
      if (checkpoint.traces > 0) this.#dropped.push(checkpoint);
    }
    if (this.#start < 1_024 && this.#start * 2 < this.#list.length) return;
    this.#list = this.#list.slice(this.#start);
    this.#start = 0;
  }
}
