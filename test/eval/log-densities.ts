import { type Component, partDensityAt } from './traffic-model.ts';

/** Factor of a part of the requests. */
export interface Slowdown {
  readonly share: number;
  readonly factor: number;
}

/** Products of so many requests' densities stay far from the least double. */
const requestsPerLog = 16;

/**
 * Computes ln of the density of one stage's durations in one window, for each of its possible states. States
 * often differ only in the weights of their components: then each component's density is computed once.
 */
export function logDensities(
  durations: readonly number[],
  states: readonly (readonly Component[])[],
  { share, factor }: Slowdown = { share: 0, factor: 1 },
): Float64Array {
  const components = states[0] as readonly Component[];
  if (states.some((state) => !haveSameParts(state, components))) {
    const slowdown = { share, factor };
    return Float64Array.from(
      states,
      (state) => logDensities(durations, [state], slowdown)[0] as number,
    );
  }
  const parts = components.length;
  const weights = Float64Array.from(states.flatMap((state) => state.map(({ weight }) => weight)));
  const logs = new Float64Array(states.length);
  const products = new Float64Array(states.length).fill(1);
  const densities = new Float64Array(parts);
  let logScale = 0;
  for (let n = 0; n < durations.length; n++) {
    const ms = durations[n] as number;
    let largest = 0;
    for (let i = 0; i < parts; i++) {
      const component = components[i] as Component;
      const baseline = share === 1 ? 0 : (1 - share) * partDensityAt(ms, component);
      const slowed = share === 0 ? 0 : (share * partDensityAt(ms / factor, component)) / factor;
      densities[i] = baseline + slowed;
      largest = Math.max(largest, baseline + slowed);
    }
    if (largest === 0) return logs.fill(Number.NEGATIVE_INFINITY);
    logScale += Math.log(largest);
    for (let state = 0; state < products.length; state++) {
      let density = 0;
      for (let i = 0; i < parts; i++) {
        density += (weights[state * parts + i] as number) * (densities[i] as number);
      }
      products[state] = ((products[state] as number) * density) / largest;
    }
    if (n % requestsPerLog === requestsPerLog - 1) takeLogs(products, logs);
  }
  takeLogs(products, logs);
  return logs.map((log) => log + logScale);
}

function haveSameParts(some: readonly Component[], others: readonly Component[]): boolean {
  return some.every(({ medianMs, sigma, isPareto }, i) => {
    const other = others[i];
    return medianMs === other?.medianMs && sigma === other.sigma && isPareto === other.isPareto;
  });
}

function takeLogs(products: Float64Array, logs: Float64Array): void {
  for (let state = 0; state < products.length; state++) {
    logs[state] = (logs[state] as number) + Math.log(products[state] as number);
  }
  products.fill(1);
}
