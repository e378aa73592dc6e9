import type { Random } from '../../src/generate/random.ts';
import { MarkovChain } from './markov-chain.ts';
import { normalChain } from './normal-chain.ts';
import {
  type Component,
  componentsOf,
  type Moment,
  type TrafficLaw,
  type TrafficModel,
} from './traffic-model.ts';

export const windowMs = 10_000;
const windowsPerMinute = 60_000 / windowMs;
export const windowsPerDay = 86_400_000 / windowMs;

/** Varying parameters of a family; the rest is as `baseline`. */
interface Latent {
  readonly ratePerSecond: number;
  /** Part of requests whose features are four times as slow. */
  readonly slowShare: number;
  /** Part of requests that are three times as slow in forward. */
  readonly longShare: number;
  readonly version: string;
  /** Part of requests with a Pareto tail in forward. */
  readonly paretoShare: number;
}

const baseline: Latent = {
  ...{ ratePerSecond: 3, slowShare: 0.03, longShare: 0.1, version: 'v1', paretoShare: 0 },
};

/** Levels of normal traffic: enough for the density of 1,000 windows to one nat. */
const normalStates = 101;

/** Random part of a family: its draws, and their law, which is all that an oracle may know. */
interface Chance {
  readonly drawnBy: (random: Random) => () => Partial<Latent>;
  /** Stage that it changes. */
  readonly stage: string;
  readonly chain: MarkovChain;
  readonly states: readonly Partial<Latent>[];
  readonly forgottenAfterWindows: number;
}

/** A family of traffic without faults: its pages are false ones. */
export interface NullFamily {
  readonly name: string;
  readonly says: string;
  readonly model: (random: Random) => TrafficModel;
}

const family = (
  name: string,
  says: string,
  latent: ((window: number) => Partial<Latent>) | Chance,
): NullFamily => ({
  name,
  says,
  model: (random) => {
    const latentAt = typeof latent === 'function' ? latent : latent.drawnBy(random.split('latent'));
    // Each series differs.
    const shape = random.split('shape');
    const scale = shape.lognormal(1, 0.4);
    const phase = shape.uniform();
    return {
      momentAt: (window) =>
        momentOf({ ...baseline, ...latentAt(window + Math.round(phase * windowsPerDay)) }, scale),
      law: typeof latent === 'function' ? undefined : lawOf(latent, scale),
    };
  },
});

export const nullFamilies: readonly NullFamily[] = [
  family('independent', 'requests that know nothing of each other', () => ({})),
  family('busy', 'the same, 20 requests a second', () => ({ ratePerSecond: 20 })),
  family('little', 'the same, one request in two seconds', () => ({ ratePerSecond: 0.5 })),
  family(
    'diurnal',
    'five times the traffic at noon, four times the share of slow requests',
    (at) => {
      const noon = dayCurve(at);
      return { ratePerSecond: 1.2 * 5 ** noon, slowShare: 0.015 * 4 ** noon };
    },
  ),
  family('weekly', 'the same, and less at weekends', (at) => {
    const noon = dayCurve(at);
    const isWeekend = Math.floor(at / windowsPerDay) % 7 >= 5;
    return {
      ratePerSecond: 1.2 * 5 ** noon * (isWeekend ? 0.4 : 1),
      slowShare: 0.015 * 4 ** noon * (isWeekend ? 0.5 : 1),
    };
  }),
  family('dst', 'the same as diurnal, an hour earlier from the third day on', (at) => {
    const noon = dayCurve(at >= 3 * windowsPerDay ? at + windowsPerDay / 24 : at);
    return { ratePerSecond: 1.2 * 5 ** noon, slowShare: 0.015 * 4 ** noon };
  }),
  family(
    'swing of a minute',
    'the slow share swings, σ 0.5, remembers a minute',
    swing(0.5, windowsPerMinute),
  ),
  family('swing of ten minutes', 'σ 0.3, remembers ten minutes', swing(0.3, 10 * windowsPerMinute)),
  family('swing of an hour', 'σ 0.5, remembers an hour', swing(0.5, 60 * windowsPerMinute)),
  family(
    'dispersion 5',
    'the slow share is drawn again for each window, φ = 5 at the p95',
    redrawn(5),
  ),
  family('dispersion 20', 'the same, φ = 20', redrawn(20)),
  family('shocks', 'five times a day a minute with five times the slow requests', shocks()),
  family('cron job', 'every day at six, for ten minutes, five times the slow requests', (at) => {
    const ofDay = (at % windowsPerDay) / windowsPerMinute;
    return { slowShare: baseline.slowShare * (ofDay >= 360 && ofDay < 370 ? 5 : 1) };
  }),
  family('heavy tail', 'one request in fifty has a Pareto tail, α = 1.5', () => ({
    paretoShare: 0.02,
  })),
  family(
    'mix drift',
    'the part of long requests wanders, remembers six hours',
    wandering('forward', 360 * windowsPerMinute, (level) => ({
      longShare: Math.min(0.5, 0.1 * Math.exp(0.5 * level)),
    })),
  ),
  family('deploys', 'a new version every day, no slower than the last', (at) => ({
    version: `v${Math.floor(at / windowsPerDay)}`,
  })),
];

function lawOf({ stage, chain, states, forgottenAfterWindows }: Chance, scale: number): TrafficLaw {
  return {
    ...{ stage, chain, forgottenAfterWindows },
    states: states.map((latent) =>
      componentsOf(momentOf({ ...baseline, ...latent }, scale), stage),
    ),
  };
}

function momentOf(latent: Latent, scale: number): Moment {
  const { version, ratePerSecond, slowShare, longShare, paretoShare } = latent;
  const lognormal = (weight: number, medianMs: number, sigma: number): Component => ({
    ...{ weight, sigma, medianMs: medianMs * scale },
  });
  const slow = Math.min(0.6, slowShare);
  const forward = [
    lognormal(1 - longShare - paretoShare, 50, 0.2),
    lognormal(longShare, 150, 0.2),
    { weight: paretoShare, medianMs: 100 * scale, sigma: 1.5, isPareto: true },
  ];
  return {
    version,
    ratePerSecond,
    stages: [
      { name: 'queue', components: [lognormal(1, 6, 0.6)] },
      { name: 'features', components: [lognormal(1 - slow, 15, 0.4), lognormal(slow, 60, 0.4)] },
      { name: 'forward', components: forward.filter(({ weight }) => weight > 0) },
    ],
  };
}

/** 0 at midnight, 1 at noon. */
function dayCurve(window: number): number {
  return (1 - Math.cos((2 * Math.PI * window) / windowsPerDay)) / 2;
}

/**
 * A value driven by a standard normal with a memory of so many windows (Ornstein and Uhlenbeck), or of none.
 */
function wandering(
  stage: string,
  memoryWindows: number,
  latentAt: (level: number) => Partial<Latent>,
): Chance {
  const keep = memoryWindows > 0 ? Math.exp(-1 / memoryWindows) : 0;
  const { levels, chain } = normalChain(keep, normalStates);
  return {
    drawnBy: (random) => {
      let level = keep > 0 ? random.normal() : 0;
      return () => {
        level = keep * level + Math.sqrt(1 - keep * keep) * random.normal();
        return latentAt(level);
      };
    },
    ...{ stage, chain, states: levels.map(latentAt) },
    forgottenAfterWindows: 5 * memoryWindows,
  };
}

function swing(sigma: number, memoryWindows: number): Chance {
  return wandering('features', memoryWindows, (level) => ({
    slowShare: baseline.slowShare * Math.exp(sigma * level - sigma ** 2 / 2),
  }));
}

/** Requests above the p95 vary φ times as much as a binomial: its rate is lognormal, window by window. */
function redrawn(dispersion: number): Chance {
  const requests = 20 * (windowMs / 1000);
  const sigma = Math.sqrt(Math.log1p((dispersion - 1) / (requests * 0.05)));
  return wandering('features', 0, (level) => ({
    ratePerSecond: 20,
    slowShare: 0.05 * Math.exp(sigma * level - sigma ** 2 / 2),
  }));
}

/** Its state is the number of remaining windows of a shock. */
function shocks(): Chance {
  const begins = 5 / windowsPerDay;
  const latentOf = (left: number) => ({ slowShare: baseline.slowShare * (left > 0 ? 5 : 1) });
  const lefts = Array.from({ length: windowsPerMinute + 1 }, (_, left) => left);
  const goesTo = (next: number, p: number) => lefts.map((left) => (left === next ? p : 0));
  const rows = lefts.map((left) => goesTo(left - 1, 1));
  rows[0] = goesTo(windowsPerMinute, begins);
  rows[0][0] = 1 - begins;
  const stationary = lefts.map(
    (left) => (left === 0 ? 1 : begins) / (1 + begins * windowsPerMinute),
  );
  return {
    drawnBy: (random) => {
      let left = 0;
      return () => {
        if (left > 0) left--;
        else if (random.chance(begins)) left = windowsPerMinute;
        return latentOf(left);
      };
    },
    ...{ stage: 'features', chain: new MarkovChain(rows, stationary), states: lefts.map(latentOf) },
    forgottenAfterWindows: windowsPerMinute,
  };
}
