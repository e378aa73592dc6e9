import { invariant } from '../../src/base/invariant.ts';
import type { Random } from '../../src/generate/random.ts';
import type { MarkovChain } from './markov-chain.ts';

/** A part of a stage's durations. */
export interface Component {
  readonly weight: number;
  readonly medianMs: number;
  /** Of the logarithm; for a Pareto tail its exponent, and `medianMs` is the least. */
  readonly sigma: number;
  readonly isPareto?: boolean;
}

/** A stage in one window. */
export interface StageModel {
  readonly name: string;
  readonly components: readonly Component[];
}

/** Distributions of the requests of one window. */
export interface Moment {
  readonly version: string;
  readonly ratePerSecond: number;
  readonly stages: readonly StageModel[];
}

/** Returns the distribution of a stage's durations. */
export function componentsOf({ stages }: Moment, stage: string): readonly Component[] {
  const found = stages.find(({ name }) => name === stage);
  invariant(found !== undefined, `traffic has no stage ${stage}`);
  return found.components;
}

/** Law of the random moments: one stage has a hidden state. */
export interface TrafficLaw {
  readonly stage: string;
  readonly chain: MarkovChain;
  /** The stage in each state; states differ in the weights of its components. */
  readonly states: readonly (readonly Component[])[];
  /** Windows after which almost nothing is left of a state. */
  readonly forgottenAfterWindows: number;
}

/** Traffic without faults. */
export interface TrafficModel {
  /** Windows are requested in order. */
  readonly momentAt: (window: number) => Moment;
  /** Undefined where moments depend on time alone. */
  readonly law: TrafficLaw | undefined;
}

export function drawMs(components: readonly Component[], random: Random): number {
  let rest = components.length > 1 ? random.uniform() : 0;
  let chosen = components[0] as Component;
  for (const component of components) {
    chosen = component;
    rest -= component.weight;
    if (rest < 0) break;
  }
  const { medianMs, sigma, isPareto } = chosen;
  return isPareto === true ? random.pareto(medianMs, sigma) : random.lognormal(medianMs, sigma);
}

/** Density of a component at `ms` > 0, for any weight. */
export function partDensityAt(ms: number, { medianMs, sigma, isPareto }: Component): number {
  if (isPareto === true) return ms < medianMs ? 0 : (sigma * (medianMs / ms) ** sigma) / ms;
  const z = Math.log(ms / medianMs) / sigma;
  return Math.exp(-(z * z) / 2) / (ms * sigma * Math.sqrt(2 * Math.PI));
}
