import type { StateArchive } from '../snapshot/archive.ts';

/** Requests of a span of time, and those that were bad. */
export interface BurnSum {
  readonly requests: number;
  readonly bad: number;
  /** Part of the span that is covered by data: less than all of it at first. */
  readonly coveredMs: number;
}

/**
 * Counts of requests and of bad ones over several trailing spans: a ring of steps, and a running sum for each
 * span.
 *
 * Memory: 16 bytes a step of the longest span. Cost: nanoseconds a window and span.
 */
export class BurnCounts {
  readonly #stepMs: number;
  /** Length of each span, in steps. */
  readonly #spans: readonly number[];
  readonly #size: number;
  readonly #requests: Float64Array;
  readonly #bad: Float64Array;
  readonly #requestSums: Float64Array;
  readonly #badSums: Float64Array;
  #step = Number.NaN;
  #firstStep = Number.NaN;

  constructor(spansMs: readonly number[], stepMs: number) {
    this.#stepMs = stepMs;
    this.#spans = spansMs.map((ms) => Math.max(1, Math.round(ms / stepMs)));
    this.#size = Math.max(...this.#spans) + 1;
    this.#requests = new Float64Array(this.#size);
    this.#bad = new Float64Array(this.#size);
    this.#requestSums = new Float64Array(spansMs.length);
    this.#badSums = new Float64Array(spansMs.length);
  }

  /** Adds a window; windows come in order, empty ones too. */
  add(startMs: number, requests: number, bad: number): void {
    this.#advance(Math.floor(startMs / this.#stepMs));
    const slot = this.#step % this.#size;
    this.#requests[slot] = (this.#requests[slot] as number) + requests;
    this.#bad[slot] = (this.#bad[slot] as number) + bad;
    for (let i = 0; i < this.#spans.length; i++) {
      this.#requestSums[i] = (this.#requestSums[i] as number) + requests;
      this.#badSums[i] = (this.#badSums[i] as number) + bad;
    }
  }

  /** Sum over the span of an index. */
  sum(span: number): BurnSum {
    const steps = this.#spans[span] as number;
    const covered = Number.isNaN(this.#step) ? 0 : this.#step - this.#firstStep + 1;
    return {
      // Rounding may leave a sum slightly below 0.
      requests: Math.max(0, this.#requestSums[span] as number),
      bad: Math.max(0, this.#badSums[span] as number),
      coveredMs: Math.min(steps, covered) * this.#stepMs,
    };
  }

  /** Start of the trailing run of steps that each have at least this share of bad requests, or none. */
  sinceMs(share: number): number {
    let first = this.#step;
    for (let step = this.#step; step > this.#step - this.#size && step >= this.#firstStep; step--) {
      const slot = step % this.#size;
      const requests = this.#requests[slot] as number;
      if ((this.#bad[slot] as number) < share * requests) break;
      if (requests > 0) first = step;
    }
    return first * this.#stepMs;
  }

  get untilMs(): number {
    return (this.#step + 1) * this.#stepMs;
  }

  serialize(state: StateArchive): void {
    state.section('burn counts', 1, () => {
      for (const counts of [this.#requests, this.#bad, this.#requestSums, this.#badSums]) {
        state.fill(counts);
      }
      this.#step = state.number(this.#step);
      this.#firstStep = state.number(this.#firstStep);
    });
  }

  #advance(step: number): void {
    if (Number.isNaN(this.#step)) {
      this.#step = step;
      this.#firstStep = step;
    }
    // The whole ring has expired.
    if (step - this.#step > this.#size) {
      for (const counts of [this.#requests, this.#bad, this.#requestSums, this.#badSums]) {
        counts.fill(0);
      }
      this.#step = step;
    }
    while (this.#step < step) {
      this.#step += 1;
      for (let i = 0; i < this.#spans.length; i++) {
        const old = (this.#step - (this.#spans[i] as number) + this.#size) % this.#size;
        this.#requestSums[i] = (this.#requestSums[i] as number) - (this.#requests[old] as number);
        this.#badSums[i] = (this.#badSums[i] as number) - (this.#bad[old] as number);
      }
      const slot = this.#step % this.#size;
      this.#requests[slot] = 0;
      this.#bad[slot] = 0;
    }
  }
}
