import {
  bimodal,
  type DurationLaw,
  lognormal,
  pareto,
  slowBranch,
  wide,
} from '../verdict/duration-law.ts';
import type { Change, Variation } from '../verdict/verdict-cases.ts';

/** Two sides that are compared once, at the end. */
export interface CompareCase {
  /** `versions` serve at the same time and share its shocks; `ranges` are other times of one version. */
  readonly sides: 'versions' | 'ranges';
  readonly law: DurationLaw;
  readonly variation: Variation;
  readonly change: Change;
  /** Requests a minute of each side. */
  readonly rate: number;
  readonly minutes: number;
}

const equal: Change = { name: 'equal', factor: 1 };
const slower: Change = { name: 'all × 1.5', factor: 1.5 };
const slowTail: Change = { name: 'slowest 5 % × 1.5', factor: 1.5, slowest: 0.05 };

const independent: Variation = { name: 'σ 0.5', deviation: 0.5 };
const shocks: Variation = {
  name: 'σ 0.5, shocks, five times the slow requests',
  deviation: 0.5,
  shared: (_, uniform) => (uniform < 0.1 ? Math.log(5) : 0),
};
const remembering: Variation = {
  ...{ name: 'σ 0.5, remembers 30 minutes', deviation: 0.5, memoryMinutes: 30 },
};
const daily: Variation = {
  name: 'σ 0.5, a rise and fall by the hour of the day',
  deviation: 0.5,
  shared: (minute) => 0.5 * Math.sin((2 * Math.PI * minute) / 1440),
};

const laws = [lognormal, slowBranch, wide, pareto, bimodal];

/** Minutes and requests of which no verdict is due, at any difference. */
const tooFew = [
  { rate: 600, minutes: 5 },
  { rate: 6, minutes: 60 },
  { rate: 1, minutes: 120 },
];

export const compareCases: readonly CompareCase[] = [
  ...(['versions', 'ranges'] as const).flatMap((sides) => [
    ...laws.flatMap((law) =>
      [equal, slower, slowTail].map((change) => ({
        ...{ sides, law, variation: independent, change, rate: 600, minutes: 60 },
      })),
    ),
    ...[shocks, daily, remembering].flatMap((variation) =>
      [equal, slower].map((change) => ({
        ...{ sides, law: lognormal, variation, change, rate: 600, minutes: 60 },
      })),
    ),
  ]),
  ...tooFew.flatMap((amount) =>
    [equal, slower].map((change) => ({
      ...{ sides: 'versions' as const, law: lognormal, variation: independent, change },
      ...amount,
    })),
  ),
];
