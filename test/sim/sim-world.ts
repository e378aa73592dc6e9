import type { SeededRandom } from '../base/seeded-random.ts';
import type { FaultPlan } from './fault-plan.ts';
import type { Scheduler } from './scheduler.ts';

/** What everything in a run shares. */
export interface SimWorld {
  readonly scheduler: Scheduler;
  readonly faults: FaultPlan;
  /** What the world draws: latencies, fates, whom they befall. */
  readonly random: SeededRandom;
  /** The wall clock at the beginning of the run, epoch milliseconds. */
  readonly epochMs: number;
  /** Things begun that end by themselves: until they have, a run is not over. */
  pending: number;
  /** Whether events are of now, and the clocks right: each of them counts. */
  readonly isLive: boolean;
  /** A line of the verbose trace; undefined where nobody reads it. */
  readonly trace: ((who: string, what: string) => void) | undefined;
}
