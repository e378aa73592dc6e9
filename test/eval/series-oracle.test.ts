import { describe, expect, it } from 'vitest';
import { Random } from '../../src/generate/random.ts';
import type { Fault } from './faults.ts';
import { LatentFilter } from './latent-filter.ts';
import { logDensities } from './log-densities.ts';
import { MarkovChain } from './markov-chain.ts';
import { type NullFamily, nullFamilies } from './null-families.ts';
import { Oracle } from './oracle.ts';
import { SeriesOracle } from './series-oracle.ts';
import {
  type Component,
  componentsOf,
  drawMs,
  type Moment,
  type TrafficLaw,
} from './traffic-model.ts';

const familyOf = (name: string) => nullFamilies.find((each) => each.name === name) as NullFamily;
const slowdown = { share: 0.05, factor: 4 };
const certain = new MarkovChain([[1]], [1]);

/** The stage with its average state. */
function averageOf({ chain, states }: TrafficLaw): Component[] {
  return (states[0] as readonly Component[]).map((component, i) => ({
    ...component,
    weight: chain.stationary.reduce((sum, p, at) => sum + p * (states[at]?.[i]?.weight ?? 0), 0),
  }));
}

/** Durations of one window's features, with the fault or without. */
function durationsOf(moment: Moment, random: Random, isFaulty: boolean): number[] {
  const components = componentsOf(moment, 'features');
  return Array.from({ length: random.poisson(moment.ratePerSecond * 10) }, () => {
    const ms = drawMs(components, random);
    return isFaulty && random.chance(slowdown.share) ? ms * slowdown.factor : ms;
  });
}

describe('the oracle of a random family', () => {
  it.each(['swing of a minute', 'swing of ten minutes', 'dispersion 20', 'shocks'])(
    'has false alarms as rarely as its threshold states, fewer than one that uses the average: %s',
    (name) => {
      // The chance to reach 20 times as many windows as there are is 1 in 20 at most.
      const [runs, windows] = [100, 15];
      const threshold = 20 * windows;
      let alarms = 0;
      let alarmsOfAverage = 0;
      for (let run = 0; run < runs; run++) {
        const random = new Random(`${name} ${run}`);
        const { momentAt, law } = familyOf(name).model(random);
        if (law === undefined) throw new Error(`${name} has a law`);
        const oracle = new Oracle(law.chain, law.chain.stationary, threshold);
        const unaware = new Oracle(certain, certain.stationary, threshold);
        const average = [averageOf(law)];
        for (let window = 0; window < windows; window++) {
          const ms = durationsOf(momentAt(window), random, false);
          oracle.observe(
            window,
            logDensities(ms, law.states),
            logDensities(ms, law.states, slowdown),
          );
          unaware.observe(window, logDensities(ms, average), logDensities(ms, average, slowdown));
        }
        if (oracle.foundAt >= 0) alarms++;
        if (unaware.foundAt >= 0) alarmsOfAverage++;
      }
      expect(alarms).toBeLessThanOrEqual(5);
      expect(alarmsOfAverage).toBeGreaterThan(alarms);
    },
  );
});

describe('SeriesOracle', () => {
  const faultAt = (from: number, stage: string, share: number): Fault => ({
    ...{ kind: 'test', stage, from, to: from + 60, share, factorAt: () => 5 },
  });
  const faults = [
    faultAt(400, 'features', 0.05),
    faultAt(480, 'features', 0.03),
    faultAt(560, 'forward', 0.1),
    faultAt(1_000, 'features', 0.1),
  ];

  it('finds each fault when a test does that has seen all windows, and knows earlier faults', () => {
    const random = new Random('series oracle');
    const model = familyOf('swing of ten minutes').model(random);
    const { law } = model;
    if (law === undefined) throw new Error('this family has a law');
    const series = new SeriesOracle(model, faults);
    const features = new LatentFilter(law.chain);
    const oracles = new Map<Fault, Oracle>();
    const draws = random.split('requests');
    for (let window = 0; window < 1_100; window++) {
      const moment = model.momentAt(window);
      const fault = faults.find(({ from, to }) => from <= window && window < to);
      const slowed = fault && { share: fault.share, factor: 5 };
      const durations = new Map<string, number[]>();
      for (const { name, components } of moment.stages) {
        const isSlow = () => fault?.stage === name && draws.chance(fault.share);
        durations.set(
          name,
          Array.from({ length: 30 }, () => drawMs(components, draws) * (isSlow() ? 5 : 1)),
        );
      }
      series.observe(window, moment, fault, durations);
      const isOfFeatures = fault?.stage === 'features';
      const states = isOfFeatures || !fault ? law.states : [componentsOf(moment, fault.stage)];
      const ms = durations.get(fault?.stage ?? 'features') ?? [];
      const faulty = logDensities(ms, states, slowed);
      if (fault !== undefined) {
        const chain = isOfFeatures ? law.chain : certain;
        const before = isOfFeatures ? features.probabilities : certain.stationary;
        const weeks = 1_000 * 7 * 8_640;
        const oracle = oracles.get(fault) ?? new Oracle(chain, before, weeks);
        oracles.set(fault, oracle);
        oracle.observe(window, logDensities(ms, states), faulty);
      }
      const logs = isOfFeatures
        ? faulty
        : logDensities(durations.get('features') ?? [], law.states);
      features.observe(logs);
    }
    const found = faults.map((fault) => series.foundAt(fault));
    expect(found).toEqual(faults.map((fault) => oracles.get(fault)?.foundAt));
    expect(Math.min(...found)).toBeGreaterThanOrEqual(400);
  });

  it('needs longer than one that sees the state', () => {
    let [summed, seen] = [0, 0];
    for (let run = 0; run < 20; run++) {
      const random = new Random(`state ${run}`);
      const { momentAt, law } = familyOf('swing of ten minutes').model(random);
      if (law === undefined) throw new Error('this family has a law');
      const oracles = [
        new Oracle(law.chain, law.chain.stationary, 1e7),
        new Oracle(certain, certain.stationary, 1e7),
      ] as const;
      for (let window = 0; oracles.some(({ foundAt }) => foundAt < 0); window++) {
        const moment = momentAt(window);
        const ms = durationsOf(moment, random, true);
        const known = [componentsOf(moment, 'features')];
        for (const [i, states] of [law.states, known].entries()) {
          oracles[i]?.observe(window, logDensities(ms, states), logDensities(ms, states, slowdown));
        }
      }
      summed += oracles[0].foundAt + 1;
      seen += oracles[1].foundAt + 1;
    }
    expect(summed).toBeGreaterThan(1.3 * seen);
    expect(summed).toBeLessThan(5 * seen);
  });
});
