import type { Random } from '../../src/generate/random.ts';

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

/** All that requests of one window are drawn from. */
export interface Moment {
  readonly version: string;
  readonly ratePerSecond: number;
  readonly stages: readonly StageModel[];
}

/** Traffic with nothing wrong, window by window; its windows are asked for in order. */
export type TrafficModel = (window: number) => Moment;

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

/** Density at `ms` > 0. */
export function densityAt(ms: number, components: readonly Component[]): number {
  let density = 0;
  for (const { weight, medianMs, sigma, isPareto } of components) {
    if (isPareto === true) {
      if (ms >= medianMs) density += (weight * sigma * (medianMs / ms) ** sigma) / ms;
      continue;
    }
    const z = Math.log(ms / medianMs) / sigma;
    density += (weight * Math.exp(-(z * z) / 2)) / (ms * sigma * Math.sqrt(2 * Math.PI));
  }
  return density;
}
