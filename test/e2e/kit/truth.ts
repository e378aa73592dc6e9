import { StageTally } from './stage-tally.ts';

/** Requests of a stage, and the sum of their durations in microseconds. */
export interface StageSum {
  readonly requests: number;
  readonly sumUs: number;
}

export type StageSums = Readonly<Record<string, StageSum>>;

/** What of an event decides how it is counted. */
export interface CountedEvent {
  readonly total_ms?: number | undefined;
  readonly partial?: boolean | undefined;
  readonly status?: string | undefined;
  readonly stages_ms?: Readonly<Record<string, number>> | undefined;
}

/**
 * What the tables must say after these events, by the contract alone: each stage counts once, and
 * the total too, given or summed, unless the event is partial. Stages by name.
 */
export function truthOf(events: Iterable<CountedEvent>): StageSums {
  const tally = new StageTally();
  for (const event of events) tally.add(event);
  return tally.sums();
}
