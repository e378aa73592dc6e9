import { Random } from '../../../src/generate/random.ts';
import { judgeSeries, type SeriesOrder, type SeriesOutcome } from '../judge-series.ts';
import { windowsPerDay } from '../null-families.ts';
import { ModelSource } from '../run-series.ts';
import type { Mechanism } from './mechanism.ts';
import { mechanismFaults } from './mechanism-faults.ts';
import { MechanismSource } from './mechanism-source.ts';
import { mechanisms } from './mechanisms.ts';

export interface MechanismOutcome extends SeriesOutcome {
  /**
   * Stretches without a fault in which the oracle in hindsight claims one, of as many as there are faults;
   * undefined where the law is known.
   */
  readonly shams: number | undefined;
}

/** Runs one series of a mechanism. The same order gives the same outcome. */
export function runMechanism(order: SeriesOrder): MechanismOutcome {
  const mechanism = mechanisms.find(({ name }) => name === order.family) as Mechanism;
  const { family, seed, days, faultsFromDay } = order;
  const random = new Random(`${family} ${seed}`);
  const faults =
    faultsFromDay === undefined
      ? []
      : mechanismFaults(
          mechanism.stage,
          faultsFromDay * windowsPerDay,
          days * windowsPerDay,
          random.split('faults'),
        );
  if ('model' in mechanism) {
    const source = new ModelSource(mechanism.model(random), faults, random);
    return { ...judgeSeries(order, source, random), shams: undefined };
  }
  const source = new MechanismSource(mechanism, faults, { random, days });
  return { ...judgeSeries(order, source, random), shams: source.shams };
}
