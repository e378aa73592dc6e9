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
    const totalMs = total_ms ?? (partial ? undefined : sumMs);
    if (totalMs !== undefined) this.#count('total', totalMs);
    this.#addMeasures(event, totalMs);
    for (const ms of event.itl_ms ?? []) this.#count('inter_token_latency', ms);
  }

  #addMeasures(event: CountedEvent, totalMs: number | undefined): void {
    const { stages_ms = {}, input_tokens = 0, output_tokens = 0 } = event;
    const { first_token, prefill } = stages_ms;
    if (totalMs !== undefined && first_token !== undefined && output_tokens >= 2) {
      this.#count('time_per_output_token', (totalMs - first_token) / (output_tokens - 1));
    }
    if (prefill !== undefined && input_tokens >= 1_000) {
      this.#count('prefill_per_1k_input_tokens', (prefill * 1000) / input_tokens);
    }
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
