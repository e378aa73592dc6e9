import type { Random } from '../../src/generate/random.ts';
import type { Fault } from './faults.ts';
import { drawMs, type Moment } from './traffic-model.ts';

const draws = 20_000;
const quantiles = [0.95, 0.99];

/** Effect of a fault on a tail. */
export interface TrueEffect {
  readonly ratio: number;
  readonly excessMs: number;
}

/** Computes the largest effect of a fault at full strength on a p95 or p99, of its stage or of the total. */
export function trueEffect(fault: Fault, moment: Moment, random: Random): TrueEffect {
  const factor = fault.factorAt(fault.to);
  const baseline = { stage: new Float64Array(draws), total: new Float64Array(draws) };
  const faulty = { stage: new Float64Array(draws), total: new Float64Array(draws) };
  for (let n = 0; n < draws; n++) {
    for (const { name, components } of moment.stages) {
      const ms = drawMs(components, random);
      const isAtFault = name === fault.stage;
      const slowed = isAtFault && random.chance(fault.share) ? ms * factor : ms;
      baseline.total[n] = (baseline.total[n] as number) + ms;
      faulty.total[n] = (faulty.total[n] as number) + slowed;
      if (!isAtFault) continue;
      baseline.stage[n] = ms;
      faulty.stage[n] = slowed;
    }
  }
  let largest: TrueEffect = { ratio: 0, excessMs: 0 };
  for (const of of ['stage', 'total'] as const) {
    const [before, after] = [baseline[of].sort(), faulty[of].sort()];
    for (const q of quantiles) {
      const at = Math.ceil(q * draws) - 1;
      const [unharmed, now] = [before[at] as number, after[at] as number];
      if (now / unharmed > largest.ratio) {
        largest = { ratio: now / unharmed, excessMs: now - unharmed };
      }
    }
  }
  return largest;
}
