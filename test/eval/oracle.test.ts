import { describe, expect, it } from 'vitest';
import { Random } from '../../src/generate/random.ts';
import { LatentFilter } from './latent-filter.ts';
import { logDensities } from './log-densities.ts';
import { MarkovChain } from './markov-chain.ts';
import { Oracle } from './oracle.ts';
import { type Component, drawMs } from './traffic-model.ts';

// Small enough to sum over all cases: a window is one of three things, in each of two states.
const chain = new MarkovChain(
  [
    [0.9, 0.1],
    [0.3, 0.7],
  ],
  [0.75, 0.25],
);
const baseline = [
  [0.7, 0.2, 0.1],
  [0.2, 0.5, 0.3],
];
const faulty = [
  [0.3, 0.3, 0.4],
  [0.1, 0.2, 0.7],
];
const windows = 5;
const outcomes = Array.from({ length: 3 ** windows }, (_, n) =>
  Array.from({ length: windows }, (_, at) => Math.floor(n / 3 ** at) % 3),
);
const paths = Array.from({ length: 2 ** windows }, (_, n) =>
  Array.from({ length: windows }, (_, at) => (n >> at) & 1),
);
const logsOf = (table: readonly (readonly number[])[], seen: number) =>
  Float64Array.from(table, (row) => Math.log(row[seen] as number));

/** Probability of an outcome with a fault from a window on: over every path of the state. */
function probability(outcome: readonly number[], faultFrom: number): number {
  let sum = 0;
  for (const path of paths) {
    let joint = 1;
    for (const [at, seen] of outcome.entries()) {
      const state = path[at] as number;
      const only = (one: number) => Float64Array.from([one === 0 ? 1 : 0, one === 1 ? 1 : 0]);
      const before = at === 0 ? chain.stationary : only(path[at - 1] as number);
      joint *= chain.step(before)[state] as number;
      joint *= (at >= faultFrom ? faulty : baseline)[state]?.[seen] as number;
    }
    sum += joint;
  }
  return sum;
}

function evidenceOf(outcome: readonly number[]): number {
  const oracle = new Oracle(chain, chain.stationary, Number.POSITIVE_INFINITY);
  for (const [at, seen] of outcome.entries()) {
    oracle.observe(at, logsOf(baseline, seen), logsOf(faulty, seen));
  }
  return oracle.evidence;
}

describe('LatentFilter', () => {
  it('predicts each window like a sum over all paths of the state', () => {
    for (const outcome of outcomes) {
      const filter = new LatentFilter(chain);
      const logs = outcome.map((seen) => filter.observe(logsOf(baseline, seen)));
      const log = logs.reduce((sum, each) => sum + each, 0);
      expect(log).toBeCloseTo(Math.log(probability(outcome, windows)), 10);
      const [a = 0, b = 0] = filter.probabilities;
      expect(a + b).toBeCloseTo(1, 12);
    }
  });

  it('weighs only possible states, however much likelier another one is', () => {
    const alternating = new MarkovChain(
      [
        [0, 1],
        [1, 0],
      ],
      [0.5, 0.5],
    );
    const filter = new LatentFilter(alternating, Float64Array.from([1, 0]));
    expect(filter.observe(Float64Array.from([0, -2_000]))).toBe(-2_000);
    expect([...filter.probabilities]).toEqual([0, 1]);
  });

  it('is not updated by a window that no state allows', () => {
    const filter = new LatentFilter(chain);
    const never = Float64Array.from([Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]);
    expect(filter.observe(never)).toBe(Number.NEGATIVE_INFINITY);
    expect(filter.probabilities).toEqual(chain.stationary);
  });
});

describe('Oracle', () => {
  it('sums the likelihood ratios of all starts, over all paths of the state', () => {
    for (const outcome of outcomes) {
      let expected = 0;
      for (let from = 0; from < windows; from++) {
        expected += probability(outcome, from) / probability(outcome, windows);
      }
      expect(evidenceOf(outcome) / expected).toBeCloseTo(1, 10);
    }
  });

  it('grows by one a window without a fault, so that its threshold is windows to a false alarm', () => {
    let mean = 0;
    for (const outcome of outcomes) mean += probability(outcome, windows) * evidenceOf(outcome);
    expect(mean).toBeCloseTo(windows, 10);
  });

  const components: Component[] = [
    { weight: 0.9, medianMs: 20, sigma: 0.4 },
    { weight: 0.1, medianMs: 80, sigma: 0.4 },
  ];
  const fault = { share: 0.3, factor: 2 };
  const certain = new MarkovChain([[1]], [1]);

  it('for traffic without a state uses the requests alone, and is never later than a CUSUM', () => {
    const random = new Random('oracle');
    const oracle = new Oracle(certain, certain.stationary, 1e9);
    let expected = 0;
    let cusum = 0;
    for (let window = 0; oracle.foundAt < 0; window++) {
      const durations = Array.from(
        { length: 20 },
        () => drawMs(components, random) * (random.chance(fault.share) ? fault.factor : 1),
      );
      const [without, withFault] = [
        logDensities(durations, [components]),
        logDensities(durations, [components], fault),
      ];
      const log = (withFault[0] as number) - (without[0] as number);
      oracle.observe(window, without, withFault);
      expected = (expected + 1) * Math.exp(log);
      cusum = Math.max(0, cusum) + log;
      expect(oracle.evidence / expected).toBeCloseTo(1, 9);
      expect(oracle.evidence).toBeGreaterThanOrEqual(Math.exp(cusum));
      expect(oracle.foundAt).toBe(oracle.evidence >= 1e9 ? window : -1);
    }
    expect(oracle.foundAt).toBeGreaterThan(3);
    expect(oracle.foundAt).toBeLessThan(25);
  });

  it('is sure where the fault alone explains a window, and rejects it where it cannot', () => {
    const [impossible, possible] = [[Number.NEGATIVE_INFINITY], [-3]].map((log) =>
      Float64Array.from(log),
    );
    const oracle = new Oracle(certain, certain.stationary, 1e9);
    oracle.observe(7, possible as Float64Array, impossible as Float64Array);
    expect([oracle.evidence, oracle.foundAt]).toEqual([0, -1]);
    oracle.observe(8, impossible as Float64Array, possible as Float64Array);
    expect([oracle.evidence, oracle.foundAt]).toEqual([Number.POSITIVE_INFINITY, 8]);
  });
});
