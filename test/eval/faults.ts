import type { Random } from '../../src/generate/random.ts';

/** A fault of one stage: part of its requests are slower by a factor. */
export interface Fault {
  readonly kind: string;
  readonly stage: string;
  readonly from: number;
  readonly to: number;
  readonly share: number;
  readonly factorAt: (window: number) => number;
}

/** A kind of fault, at its position in time. */
type Kind = readonly [kind: string, stage: string, share: number, factor: number, shape?: 'ramp'];

export const faultKinds: readonly Kind[] = [
  ['tail ×1.5', 'features', 0.3, 1.5],
  ['tail ×2', 'features', 0.3, 2],
  ['tail ×3', 'forward', 0.1, 3],
  ['tail ×5', 'features', 0.1, 5],
  ['tail ×10', 'forward', 0.05, 10],
  ['stage ×1.3', 'forward', 1, 1.3],
  ['stage ×2', 'features', 1, 2],
  ['outage ×10', 'forward', 1, 10],
  ['queue builds up', 'queue', 1, 20, 'ramp'],
  ['contention', 'features', 0.03, 6],
];

/** Length of a fault, and from the start of one to that of the next. */
export const faultWindows = { length: 120, every: 1440 } as const;

/** Yields one fault after another, of every kind in turn, from a window on. */
export function faultsFrom(first: number, windows: number, random: Random): Fault[] {
  const faults: Fault[] = [];
  const offset = random.uint32() % faultKinds.length;
  for (let at = first; at + faultWindows.every <= windows; at += faultWindows.every) {
    const jitter = random.uint32() % (faultWindows.every / 2);
    const [kind, stage, share, factor, shape] = faultKinds[
      (faults.length + offset) % faultKinds.length
    ] as Kind;
    const from = at + jitter;
    const half = faultWindows.length / 2;
    faults.push({
      ...{ kind, stage, share, from, to: from + faultWindows.length },
      factorAt: (window) =>
        shape === 'ramp' ? 1 + (factor - 1) * Math.min(1, (window - from) / half) : factor,
    });
  }
  return faults;
}
