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
  const sums = new Map<string, { requests: number; sumUs: number }>();
  const add = (stage: string, ms: number) => {
    const sum = sums.get(stage) ?? { requests: 0, sumUs: 0 };
    sum.requests++;
    sum.sumUs += Math.round(ms * 1000);
    sums.set(stage, sum);
  };
  for (const { total_ms, partial = false, stages_ms = {} } of events) {
    let sumMs = 0;
    for (const [stage, ms] of Object.entries(stages_ms)) {
      add(stage, ms);
      sumMs += ms;
    }
    if (total_ms !== undefined) add('total', total_ms);
    else if (!partial) add('total', sumMs);
  }
  return Object.fromEntries([...sums].sort(([a], [b]) => (a < b ? -1 : 1)));
}
