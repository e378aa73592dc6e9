import { weyl32 } from '../base/seeded-random.ts';

type Draw = (random: () => number) => number;

function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

const lognormal: Draw = (random) => Math.exp(3 + normal(random));

const draws: Readonly<Record<string, Draw>> = {
  lognormal,
  'lognormal, narrow': (random) => Math.exp(3 + 0.3 * normal(random)),
  'bimodal cliff': (random) =>
    random() < 0.97 ? 20 + 0.5 * normal(random) : 500 + 20 * normal(random),
  'Pareto 1.5': (random) => 10 * (1 - random()) ** (-1 / 1.5),
  exponential: (random) => -50 * Math.log(1 - random()),
  uniform: (random) => 100 * random(),
  'whole ms': (random) => Math.round(Math.exp(3 + 0.7 * normal(random))),
  'two points': (random) => (random() < 0.993 ? 1 : 100),
  constant: () => 5,
  'range of 10^9': (random) => 10 ** (9 * random() - 3),
  'sorted lognormal': lognormal,
  'reversed lognormal': lognormal,
};

export const distributionNames = Object.keys(draws);

/** `count` durations in ms of a named distribution, the same for the same seed. */
export function drawDistribution(name: string, count: number, seed: number): Float64Array {
  const draw = draws[name];
  if (draw === undefined) throw new Error(`no distribution ${name}`);
  const random = weyl32(seed);
  const values = Float64Array.from({ length: count }, () => draw(random));
  if (name.startsWith('sorted')) values.sort();
  if (name.startsWith('reversed')) values.sort().reverse();
  return values;
}
