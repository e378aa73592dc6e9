import type { Random } from '../../src/generate/random.ts';
import type { Component, Moment, TrafficModel } from './traffic-model.ts';

export const windowMs = 10_000;
const windowsPerMinute = 60_000 / windowMs;
export const windowsPerDay = 86_400_000 / windowMs;

/** What moves in a family; the rest is as `usual`. */
interface Latent {
  readonly ratePerSecond: number;
  /** Part of requests whose features take four times as long. */
  readonly slowShare: number;
  /** Part of requests that are three times as long in forward. */
  readonly longShare: number;
  readonly version: string;
  /** Part of requests with a Pareto tail in forward. */
  readonly paretoShare: number;
}

const usual: Latent = {
  ...{ ratePerSecond: 3, slowShare: 0.03, longShare: 0.1, version: 'v1', paretoShare: 0 },
};

/** A family of traffic with nothing wrong: what pages in it is a false page. */
export interface NullFamily {
  readonly name: string;
  readonly says: string;
  readonly model: (random: Random) => TrafficModel;
}

const family = (
  name: string,
  says: string,
  latentOf: (random: Random) => (window: number) => Partial<Latent>,
): NullFamily => ({
  name,
  says,
  model: (random) => {
    const latentAt = latentOf(random.split('latent'));
    // No two series are alike.
    const shape = random.split('shape');
    const scale = shape.lognormal(1, 0.4);
    const phase = shape.uniform();
    return (window) =>
      momentOf({ ...usual, ...latentAt(window + Math.round(phase * windowsPerDay)) }, scale);
  },
});

export const nullFamilies: readonly NullFamily[] = [
  family('independent', 'requests that know nothing of each other', () => () => ({})),
  family('busy', 'the same, 20 requests a second', () => () => ({ ratePerSecond: 20 })),
  family('little', 'the same, one request in two seconds', () => () => ({ ratePerSecond: 0.5 })),
  family(
    'diurnal',
    'five times the traffic at noon, four times the share of slow requests',
    () => (at) => {
      const noon = dayCurve(at);
      return { ratePerSecond: 1.2 * 5 ** noon, slowShare: 0.015 * 4 ** noon };
    },
  ),
  family('weekly', 'the same, and less at weekends', () => (at) => {
    const noon = dayCurve(at);
    const isWeekend = Math.floor(at / windowsPerDay) % 7 >= 5;
    return {
      ratePerSecond: 1.2 * 5 ** noon * (isWeekend ? 0.4 : 1),
      slowShare: 0.015 * 4 ** noon * (isWeekend ? 0.5 : 1),
    };
  }),
  family('dst', 'the same as diurnal, an hour earlier from the third day on', () => (at) => {
    const noon = dayCurve(at >= 3 * windowsPerDay ? at + windowsPerDay / 24 : at);
    return { ratePerSecond: 1.2 * 5 ** noon, slowShare: 0.015 * 4 ** noon };
  }),
  family('swing of a minute', 'the slow share swings, σ 0.5, remembers a minute', (random) =>
    swing(random, 0.5, windowsPerMinute),
  ),
  family('swing of ten minutes', 'σ 0.3, remembers ten minutes', (random) =>
    swing(random, 0.3, 10 * windowsPerMinute),
  ),
  family('swing of an hour', 'σ 0.5, remembers an hour', (random) =>
    swing(random, 0.5, 60 * windowsPerMinute),
  ),
  family('dispersion 5', 'the slow share is drawn anew each window, φ = 5 at the p95', (random) =>
    redrawn(random, 5),
  ),
  family('dispersion 20', 'the same, φ = 20', (random) => redrawn(random, 20)),
  family('shocks', 'five times a day a minute with five times the slow requests', (random) => {
    let left = 0;
    return () => {
      if (left > 0) left--;
      else if (random.chance(5 / windowsPerDay)) left = windowsPerMinute;
      return { slowShare: usual.slowShare * (left > 0 ? 5 : 1) };
    };
  }),
  family(
    'cron job',
    'every day at six, for ten minutes, five times the slow requests',
    () => (at) => {
      const ofDay = (at % windowsPerDay) / windowsPerMinute;
      return { slowShare: usual.slowShare * (ofDay >= 360 && ofDay < 370 ? 5 : 1) };
    },
  ),
  family('heavy tail', 'one request in fifty has a Pareto tail, α = 1.5', () => () => ({
    paretoShare: 0.02,
  })),
  family('mix drift', 'the part of long requests wanders, remembers six hours', (random) => {
    const level = wandering(random, 360 * windowsPerMinute);
    return () => ({ longShare: Math.min(0.5, 0.1 * Math.exp(0.5 * level())) });
  }),
  family('deploys', 'a new version every day, no slower than the last', () => (at) => ({
    version: `v${Math.floor(at / windowsPerDay)}`,
  })),
];

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

/** A standard normal that remembers for so many windows (Ornstein and Uhlenbeck). */
function wandering(random: Random, memoryWindows: number): () => number {
  const keep = Math.exp(-1 / memoryWindows);
  let level = random.normal();
  return () => {
    level = keep * level + Math.sqrt(1 - keep * keep) * random.normal();
    return level;
  };
}

function swing(random: Random, sigma: number, memoryWindows: number) {
  const level = wandering(random, memoryWindows);
  return () => ({ slowShare: usual.slowShare * Math.exp(sigma * level() - sigma ** 2 / 2) });
}

/** Requests above the p95 vary φ times as much as a binomial: its rate is lognormal, window by window. */
function redrawn(random: Random, dispersion: number) {
  const requests = 20 * (windowMs / 1000);
  const sigma = Math.sqrt(Math.log1p((dispersion - 1) / (requests * 0.05)));
  return () => ({
    ratePerSecond: 20,
    slowShare: 0.05 * Math.exp(sigma * random.normal() - sigma ** 2 / 2),
  });
}
