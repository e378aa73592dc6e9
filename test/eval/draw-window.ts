import type { Random } from '../../src/generate/random.ts';
import type { Fault } from './faults.ts';
import { windowMs } from './null-families.ts';
import { drawMs, type Moment } from './traffic-model.ts';

/** Milliseconds of each stage, request by request: all have as many. */
export type Durations = ReadonlyMap<string, readonly number[]>;

/** Draws the requests that start in one window of a moment, slowed by the current fault. */
export function drawWindow(
  { ratePerSecond, stages }: Moment,
  window: number,
  fault: Fault | undefined,
  random: Random,
): Durations {
  const factor = fault?.factorAt(window) ?? 1;
  const drawn = stages.map(({ name, components }) => ({
    ...{ name, components, durations: [] as number[] },
    share: fault?.stage === name ? fault.share : 0,
  }));
  const requests = poissonOf(ratePerSecond * (windowMs / 1000), random);
  for (let n = 0; n < requests; n++) {
    for (const { components, share, durations } of drawn) {
      const ms = drawMs(components, random);
      const isSlowed = share === 1 || (share > 0 && random.chance(share));
      durations.push(isSlowed ? ms * factor : ms);
    }
  }
  return new Map(drawn.map(({ name, durations }) => [name, durations]));
}

/** Large means come from the normal distribution, which is indistinguishable there. */
function poissonOf(mean: number, random: Random): number {
  if (mean < 60) return random.poisson(mean);
  return Math.max(0, Math.round(mean + Math.sqrt(mean) * random.normal()));
}
