import { StageTally } from './stage-tally.ts';

/** Requests of a stage, and the sum of their durations in microseconds. */
export interface StageSum {
  readonly requests: number;
  readonly sumUs: number;
}

export type StageSums = Readonly<Record<string, StageSum>>;

/** Fields of an event that decide how it is counted. */
export interface CountedEvent {
  readonly total_ms?: number | undefined;
  readonly partial?: boolean | undefined;
  readonly status?: string | undefined;
  readonly stages_ms?: Readonly<Record<string, number>> | undefined;
  readonly input_tokens?: number | undefined;
  readonly output_tokens?: number | undefined;
  readonly itl_ms?: readonly number[] | undefined;
}

/**
 * Computes the expected contents of the tables after these events, by the contract alone. Each stage counts
 * once, and so do the measures that tokens give, each gap between tokens, and the total, given or summed, unless the event is partial.
 * Stages by name.
 */
export function truthOf(events: Iterable<CountedEvent>): StageSums {
  const tally = new StageTally();
  for (const event of events) tally.add(event);
  return tally.sums();
}
