import { Random } from '../../../src/generate/random.ts';
import type { Fault } from '../faults.ts';
import { windowMs, windowsPerDay } from '../null-families.ts';
import type { StageModel } from '../traffic-model.ts';

/** Two faults of one series at different stages: the second begins 2 to 20 min after the first. */
export interface FaultPair {
  readonly first: Fault;
  readonly second: Fault;
}

/** A series that learns, and then has one pair of faults, or one short fault, in several continuations. */
export interface PairSeries {
  readonly stages: readonly StageModel[];
  readonly ratePerSecond: number;
  readonly learntWindows: number;
  readonly pairs: readonly FaultPair[];
  /** Faults of two minutes. */
  readonly short: readonly Fault[];
}

const windowsPerMinute = 60_000 / windowMs;

/** A stage with one lognormal part of its durations. */
const stage = (name: string, medianMs: number, sigma: number): StageModel => ({
  name,
  components: [{ weight: 1, medianMs, sigma }],
});

const kindsOfTraffic: readonly (readonly StageModel[])[] = [
  [stage('queue', 30, 0.6), stage('prefill', 300, 0.4), stage('decode', 2_500, 0.4)],
  [stage('queue', 6, 0.6), stage('features', 15, 0.4), stage('forward', 50, 0.25)],
  [stage('features', 25, 0.5), stage('forward', 80, 0.3), stage('downstream', 40, 0.5)],
];

/** Share of a stage's requests, and their factor. */
const sizes = [
  [1, 1.6],
  [1, 2.5],
  [1, 5],
  [0.5, 2.5],
  [0.3, 3],
  [0.3, 5],
  [0.1, 5],
  [0.1, 8],
] as const;

export interface PairOrder {
  readonly seed: number;
  readonly pairCount: number;
}

/** Draws a series with its faults. The same order gives the same series. */
export function pairSeries({ seed, pairCount }: PairOrder): PairSeries {
  const random = new Random(`second faults ${seed}`);
  const stages = kindsOfTraffic[seed % kindsOfTraffic.length] as readonly StageModel[];
  const learntWindows = seed % 2 === 0 ? windowsPerDay + windowsPerDay / 24 : windowsPerDay / 8;
  return {
    ...{ stages, learntWindows, ratePerSecond: seed % 4 < 2 ? 5 : 20 },
    pairs: Array.from({ length: pairCount }, () => drawPair(stages, learntWindows, random)),
    short: Array.from({ length: pairCount }, () => {
      const { name } = stages[random.uint32() % stages.length] as StageModel;
      return drawFault(name, learntWindows, 2, random);
    }),
  };
}

function drawPair(stages: readonly StageModel[], from: number, random: Random): FaultPair {
  const at = random.uint32() % stages.length;
  const other = (at + 1 + (random.uint32() % (stages.length - 1))) % stages.length;
  const afterMinutes = minutesBetween(2, 20, random);
  // The first is still open, or over for five minutes at most.
  const firstMinutes = minutesBetween(Math.max(3, afterMinutes - 5), afterMinutes + 10, random);
  const second = from + Math.round(afterMinutes * windowsPerMinute);
  return {
    first: drawFault(stages[at]?.name ?? '', from, firstMinutes, random),
    second: drawFault(stages[other]?.name ?? '', second, minutesBetween(2, 8, random), random),
  };
}

function drawFault(name: string, from: number, minutes: number, random: Random): Fault {
  const [share, factor] = sizes[random.uint32() % sizes.length] as (typeof sizes)[number];
  const to = from + Math.round(minutes * windowsPerMinute);
  return { kind: `${share} ×${factor}`, stage: name, share, from, to, factorAt: () => factor };
}

function minutesBetween(least: number, most: number, random: Random): number {
  return least + (most - least) * random.uniform();
}
