import { normalChain } from '../normal-chain.ts';
import type { Component, Moment, TrafficModel } from '../traffic-model.ts';
import { type Mechanism, wandering } from './mechanism.ts';

const minute = 6;
/** Levels of the scale: their distance is a part of its error by chance in one window. */
const states = 101;
const stage = 'forward';

/**
 * All durations of a stage go up and down together, as with load: their logarithm is autoregressive of first
 * order. The law is known, so that the oracle is the likelihood-ratio test.
 */
const scale = (name: string, sigma: number, memoryMinutes: number): Mechanism => ({
  ...{ name, group: 'development', stage, followers: [] },
  says: `the scale of a stage wanders by ${sigma * 100} %, and remembers ${memoryMinutes} min`,
  model: (random): TrafficModel => {
    const memory = memoryMinutes * minute;
    const level = wandering(random.split('level'), memory);
    const { levels, chain } = normalChain(Math.exp(-1 / memory), states);
    const forward = (at: number): readonly Component[] => [
      { weight: 1, medianMs: 50 * Math.exp(sigma * at), sigma: 0.25 },
    ];
    return {
      momentAt: (): Moment => ({
        ...{ version: 'v1', ratePerSecond: 4 },
        stages: [
          { name: 'queue', components: [{ weight: 1, medianMs: 4, sigma: 0.6 }] },
          { name: 'features', components: [{ weight: 1, medianMs: 12, sigma: 0.4 }] },
          { name: stage, components: forward(level()) },
        ],
      }),
      law: { stage, chain, states: levels.map(forward), forgottenAfterWindows: 5 * memory },
    };
  },
});

export const scaleMechanisms: readonly Mechanism[] = [
  scale('scale, a minute', 0.2, 1),
  scale('scale, five minutes', 0.12, 5),
  scale('scale, twenty minutes', 0.06, 20),
  scale('scale far, twenty minutes', 0.2, 20),
];
