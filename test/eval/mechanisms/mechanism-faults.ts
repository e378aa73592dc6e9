import type { Random } from '../../../src/generate/random.ts';
import type { Fault } from '../faults.ts';

const minute = 6;
const hour = 60 * minute;

/** A share of the requests is slower by a factor, in the stage of the mechanism. */
const slowdowns = [
  ['all × 1.2', 1, 1.2],
  ['all × 1.5', 1, 1.5],
  ['all × 2', 1, 2],
  ['all × 4', 1, 4],
  ['10 % × 3', 0.1, 3],
  ['3 % × 3', 0.03, 3],
] as const;
const lengthMinutes = [5, 30, 240] as const;
/** Growth that takes its whole length. */
const growth = { kind: 'growth × 2', factor: 2, minutes: 360 } as const;
/** From the end of a fault to the start of the next one, and up to half an hour more. */
const pauseWindows = 3 * hour;

interface MechanismFault {
  readonly kind: string;
  readonly share: number;
  readonly factor: number;
  readonly minutes: number;
  readonly grows: boolean;
}

const all: readonly MechanismFault[] = [
  ...slowdowns.flatMap(([kind, share, factor]) =>
    lengthMinutes.map((minutes) => ({
      ...{ kind: `${kind}, ${minutes} min`, share, factor, minutes, grows: false },
    })),
  ),
  { kind: `${growth.kind}, ${growth.minutes} min`, share: 1, factor: 2, minutes: 360, grows: true },
];

/** Kinds of faults, in the order of a table. */
export const mechanismFaultKinds = all.map(({ kind }) => kind);

/** One fault after another, from a window on: each kind once, in an order of the seed, and again. */
export function mechanismFaults(
  stage: string,
  first: number,
  windows: number,
  random: Random,
): Fault[] {
  const faults: Fault[] = [];
  let at = first;
  for (;;) {
    const order = all.map((fault) => ({ fault, key: random.uniform() }));
    order.sort((a, b) => a.key - b.key);
    for (const { fault } of order) {
      const { kind, share, factor, minutes, grows } = fault;
      const from = at + Math.floor(random.uniform() * 30 * minute);
      const length = minutes * minute;
      if (from + length > windows) return faults;
      faults.push({
        ...{ kind, stage, share, from, to: from + length },
        factorAt: (window) =>
          grows ? 1 + (factor - 1) * Math.min(1, (window - from) / length) : factor,
      });
      at = from + length + pauseWindows;
    }
  }
}
