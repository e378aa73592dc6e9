import { Random } from '../../src/generate/random.ts';
import { type FaultKind, faultKinds } from './fault-kinds.ts';

/**
 * Plans the fault of each cycle: rounds of the kinds, each in its own order. So the counts of kinds differ by
 * one at most. The same seed gives the same plan.
 */
export function planCycles(
  seed: string,
  cycles: number,
  kinds: readonly FaultKind[] = faultKinds,
): FaultKind[] {
  const random = new Random(seed).split('plan');
  const plan: FaultKind[] = [];
  while (plan.length < cycles) {
    const left = [...kinds];
    while (left.length > 0 && plan.length < cycles) {
      plan.push(...left.splice(random.uint32() % left.length, 1));
    }
  }
  return plan;
}
