import type { CountedEvent, StageSums } from './truth.ts';

/** Adds up, event by event, the expected contents of the tables. See `truthOf`. */
export class StageTally {
  readonly #sums = new Map<string, { requests: number; sumUs: number }>();

  add(event: CountedEvent): void {
    const { total_ms, partial = false, stages_ms = {} } = event;
    let sumMs = 0;
    for (const [stage, ms] of Object.entries(stages_ms)) {
      this.#count(stage, ms);
      sumMs += ms;
    }
    if (total_ms !== undefined) this.#count('total', total_ms);
    else if (!partial) this.#count('total', sumMs);
  }

  /** Stages by name. */
  sums(): StageSums {
    return Object.fromEntries(
      [...this.#sums]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([stage, { requests, sumUs }]) => [stage, { requests, sumUs }]),
    );
  }

  #count(stage: string, ms: number): void {
    let sum = this.#sums.get(stage);
    if (sum === undefined) {
      sum = { requests: 0, sumUs: 0 };
      this.#sums.set(stage, sum);
    }
    sum.requests++;
    sum.sumUs += Math.round(ms * 1000);
  }
}
