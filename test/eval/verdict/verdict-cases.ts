import { bimodal, type DurationLaw, lognormal, pareto, slowBranch, wide } from './duration-law.ts';

/** How the log odds of slow requests vary from minute to minute. */
export interface Variation {
  readonly name: string;
  /** Deviation of each version's own variation. */
  readonly deviation: number;
  /** Minutes that it remembers. @default none */
  readonly memoryMinutes?: number;
  /** What both versions share: by the minute, and a uniform number of it. */
  readonly shared?: (minute: number, uniform: number) => number;
}

/** How the candidate differs. */
export interface Change {
  readonly name: string;
  readonly factor: number;
  /** Slowest part of the requests that the factor applies to. @default all */
  readonly slowest?: number;
  /** Share of its requests that fail; the baseline's is 0.005. @default the same */
  readonly failing?: number;
}

export interface VerdictCase {
  readonly law: DurationLaw;
  readonly variation: Variation;
  readonly change: Change;
  /** Requests a minute of the candidate, and of the baseline. */
  readonly rates: readonly [number, number];
  /** Minutes that are compared as one. @default 1 */
  readonly blockMinutes?: number;
  /** Pairs of versions, of those that are asked for. @default 1 */
  readonly part?: number;
}

/** Share of the baseline's requests that fail. */
export const failingShare = 0.005;

const swings: Variation = { name: 'σ 0.5', deviation: 0.5 };
const equal: Change = { name: 'equal', factor: 1 };
const slower: Change = { name: 'all × 1.5', factor: 1.5 };
const slowTail: Change = { name: 'slowest 5 % × 1.5', factor: 1.5, slowest: 0.05 };
const three = [equal, slower, slowTail];

const changes: readonly Change[] = [
  ...three,
  { name: 'slowest 2 % × 1.5', factor: 1.5, slowest: 0.02 },
  { name: 'a tenth slower', factor: 1.1 },
  { name: 'a fifth slower', factor: 1.2 },
  { name: '× 1.3, the margin', factor: 1.3 },
  { name: 'a fifth faster', factor: 0.8 },
  { name: '3 % fail, not 0.5 %', factor: 1, failing: 0.03 },
];

const remembersFive = { name: 'σ 0.5, remembers 5 minutes', deviation: 0.5, memoryMinutes: 5 };

/** Variations that nobody tuned for. */
const others: readonly Variation[] = [
  { name: 'σ 0', deviation: 0 },
  { name: 'σ 1', deviation: 1 },
  {
    name: 'σ 0.5, an hourly rise and fall of both',
    deviation: 0.5,
    shared: (minute) => 1.5 * Math.sin((2 * Math.PI * minute) / 60),
  },
  {
    name: 'σ 0.5, shocks of both, five times the slow requests',
    deviation: 0.5,
    shared: (_, uniform) => (uniform < 0.1 ? Math.log(5) : 0),
  },
  remembersFive,
  { name: 'σ 0.5, remembers 30 minutes', deviation: 0.5, memoryMinutes: 30 },
];

const even = [600, 600] as const;

export const verdictCases: readonly VerdictCase[] = [
  ...changes.map((change) => ({ law: lognormal, variation: swings, change, rates: even })),
  ...[slowBranch, wide, pareto, bimodal].flatMap((law) =>
    three.map((change) => ({ law, variation: swings, change, rates: even })),
  ),
  ...others.flatMap((variation) =>
    [equal, slower].map((change) => ({ law: lognormal, variation, change, rates: even })),
  ),
  ...[equal, slower].map((change) => ({
    ...{ law: lognormal, variation: remembersFive, change, rates: even, blockMinutes: 6 },
  })),
  ...(
    [
      [30, 570],
      [60, 60],
      [570, 30],
    ] as const
  ).flatMap((rates) =>
    [equal, slower].map((change) => ({ law: lognormal, variation: swings, change, rates })),
  ),
  ...[equal, slower].map((change) => ({
    ...{ law: lognormal, variation: swings, change, part: 0.2 },
    rates: [6_000, 6_000] as const,
  })),
];
