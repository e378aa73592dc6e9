import { type DurationLaw, lognormal, pareto, slowBranch, wide } from '../verdict/duration-law.ts';

/** How the candidate differs. */
export interface StageChange {
  readonly name: string;
  /** Factor of the time to the first token. @default 1 */
  readonly firstToken?: number;
  /** Slowest part of the requests that it applies to. @default all */
  readonly slowest?: number;
  /** Factor of the time per output token. @default 1 */
  readonly perToken?: number;
  /** Factor of whole requests alone, as of longer answers. @default 1 */
  readonly total?: number;
  /** Part of the requests that meet the objective. @default as many as of the baseline */
  readonly goodput?: number;
}

/** Two versions of a server of a language model. */
export interface StageCase {
  /** Of the time to the first token. */
  readonly law: DurationLaw;
  /** Deviation of each version's own log odds of a slow request, from minute to minute. */
  readonly deviation: number;
  readonly change: StageChange;
  /** Requests a minute of the candidate, and of the baseline. */
  readonly rates: readonly [number, number];
  /** True for whole requests alone. @default the default stages */
  readonly isTotalAlone?: boolean;
  /** The baseline's part of the requests that meet a joint objective. @default there is no objective */
  readonly goodput?: number;
  /** Pairs of versions, of those that are asked for. @default 1 */
  readonly part?: number;
}

const equal: StageChange = { name: 'equal' };
const slower: StageChange = { name: 'TTFT × 1.5', firstToken: 1.5 };
const slowTail: StageChange = { name: 'TTFT, slowest 5 % × 1.5', firstToken: 1.5, slowest: 0.05 };
const slowEnd: StageChange = { name: 'TTFT, slowest 2 % × 1.5', firstToken: 1.5, slowest: 0.02 };
const slowTokens: StageChange = { name: 'time per token × 1.5', perToken: 1.5 };
const slowWhole: StageChange = { name: 'total alone × 1.5', total: 1.5 };

const equalGoodput: StageChange = { name: 'goodput 99 % of both' };
const goodputChanges: readonly StageChange[] = [
  { name: 'goodput 96 %, not 99 %', goodput: 0.96 },
  { name: 'goodput 90 %, not 99 %', goodput: 0.9 },
];

/** A canary of 10 % of 300 requests a minute. */
const canary = [30, 270] as const;

/** Equal versions are rarely failed: of one case there are enough to bound how rarely. */
const many = 2.5;

export const stageCases: readonly StageCase[] = [
  ...[lognormal, wide, slowBranch, pareto].flatMap((law): StageCase[] =>
    [equal, slower, slowTail].map((change) => ({
      ...{ law, deviation: 0.5, change, rates: canary },
      part: law === lognormal && change === equal ? many : 1,
    })),
  ),
  { law: lognormal, deviation: 0.5, change: slowEnd, rates: canary },
  { law: lognormal, deviation: 0.5, change: slowTokens, rates: canary },
  { law: lognormal, deviation: 0.5, change: equal, rates: canary, isTotalAlone: true },
  ...[true, false].map((isTotalAlone) => ({
    ...{ law: lognormal, deviation: 0.5, change: slowWhole, rates: canary, isTotalAlone },
  })),
  ...[0, 1].flatMap((deviation) =>
    [equal, slower, slowTail].map((change) => ({
      ...{ law: lognormal, deviation, change, rates: canary },
    })),
  ),
  ...[equal, slowTail, slowEnd].map((change) => ({
    ...{ law: lognormal, deviation: 0.5, change, rates: [300, 2_700] as const, part: 0.1 },
  })),
  ...[equalGoodput, ...goodputChanges].map((change) => ({
    ...{ law: lognormal, deviation: 0.5, change, rates: canary, goodput: 0.99 },
    part: change === equalGoodput ? many : 1,
  })),
  {
    ...{ law: lognormal, deviation: 0.5, change: equalGoodput, rates: [300, 2_700] },
    ...{ goodput: 0.99, part: 0.1 },
  },
];
