import type { Random } from '../../../src/generate/random.ts';
import type { VersionDurations } from '../completed-windows.ts';
import type { Fault } from '../faults.ts';
import type { TrafficModel } from '../traffic-model.ts';

/** Traffic that follows from how a server works. */
export type Mechanism = DrawnMechanism | KnownMechanism;

interface Described {
  readonly name: string;
  /** Only development ones may be looked at while the detector is changed. */
  readonly group: 'development' | 'held out';
  readonly says: string;
  /** The stage that faults slow down. */
  readonly stage: string;
  /** Stages that grow with it, and may be blamed as well. */
  readonly followers: readonly string[];
}

/** What the oracle knows in hindsight alone. The same generator gives the same traffic. */
export interface DrawnMechanism extends Described {
  readonly traffic: (random: Random) => Traffic;
}

/** A mechanism whose law is known. */
export interface KnownMechanism extends Described {
  readonly model: (random: Random) => TrafficModel;
}

/** Draws the requests that start in a window; windows come in order. */
export type Traffic = (window: number, fault: Fault | undefined) => VersionDurations;

/** Milliseconds of each stage of one request. `slow` makes those of the faulty stage slower. */
export type DrawRequest = (random: Random, slow: Slow) => readonly number[];
export type Slow = (stage: string, ms: number) => number;

/** Requests of one window. */
export interface WindowTraffic {
  readonly ratePerSecond: number;
  readonly draw: DrawRequest;
}

const windowSeconds = 10;

/** Traffic whose requests are drawn one after another, by what its window is like. */
export function requestsOf(
  stages: readonly string[],
  random: Random,
  windowAt: (window: number) => WindowTraffic,
): Traffic {
  const arrivals = random.split('arrivals');
  const requests = random.split('requests');
  return (window, fault) => {
    const { ratePerSecond, draw } = windowAt(window);
    arrivals.seek(window, 0);
    const count = arrivals.poisson(ratePerSecond * windowSeconds);
    const columns = stages.map((): number[] => []);
    const factor = fault?.factorAt(window) ?? 1;
    for (let n = 0; n < count; n++) {
      // A stream of its own, so that a request draws the same with and without the fault.
      requests.seek(window, n);
      const isHit = requests.uniform() < (fault?.share ?? 0);
      const slow: Slow = (stage, ms) => (isHit && stage === fault?.stage ? ms * factor : ms);
      for (const [i, ms] of draw(requests, slow).entries()) columns[i]?.push(ms);
    }
    const durations = new Map(stages.map((stage, i) => [stage, columns[i] ?? []]));
    return { version: 'v1', durations };
  };
}

/**
 * A standard normal that remembers so many windows (Ornstein and Uhlenbeck); one value a window, in order.
 */
export function wandering(random: Random, memoryWindows: number): () => number {
  const keep = Math.exp(-1 / memoryWindows);
  let level = random.normal();
  return () => {
    level = keep * level + Math.sqrt(1 - keep * keep) * random.normal();
    return level;
  };
}
