import type { SeededRandom } from '../base/seeded-random.ts';
import type { FaultPlan } from './fault-plan.ts';
import type { Scheduler } from './scheduler.ts';

/** Shared state of a run. */
export interface SimWorld {
  readonly scheduler: Scheduler;
  readonly faults: FaultPlan;
  /** Random numbers of the world: latencies, fates, victims. */
  readonly random: SeededRandom;
  /** The wall clock at the start of the run, epoch milliseconds. */
  readonly epochMs: number;
  /** Number of started actions that end by themselves: a run is over after the last. */
  pending: number;
  /** True where events are of now, and the clocks right: each event counts. */
  readonly isLive: boolean;
  /** A line of the verbose trace; undefined without a reader. */
  readonly trace: ((who: string, what: string) => void) | undefined;
}

/** How far a wrong clock is behind: further than events may be ahead of the clock in live runs. */
export const WRONG_CLOCK_MS = 60_000;
