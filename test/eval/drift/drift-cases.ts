import type { Fault } from '../faults.ts';
import { windowsPerDay } from '../null-families.ts';

/** A slow change over a series, from the tenth day on. */
export interface DriftCase {
  readonly name: string;
  /** Factor of `forward` in a window; 1 before. */
  readonly factorAt: (window: number) => number;
  /** True where a new version comes with every day of it. */
  readonly isReleased?: boolean;
  /** True where it is large enough to open a drift. */
  readonly isDrift: boolean;
}

/** A week and a day to learn from, and one more day. */
const fromWindow = 9 * windowsPerDay;
const daysInto = (window: number) => Math.max(0, window - fromWindow) / windowsPerDay;

export const calm: DriftCase = { name: 'nothing', factorAt: () => 1, isDrift: false };

export const driftCases: readonly DriftCase[] = [
  {
    name: 'half as slow again, within a day',
    factorAt: (window) => 1 + 0.5 * Math.min(1, daysInto(window)),
    isDrift: true,
  },
  {
    name: 'five percent with every release, one a day',
    factorAt: (window) => 1.05 ** Math.min(8, Math.ceil(daysInto(window))),
    isReleased: true,
    isDrift: true,
  },
  {
    name: 'a tenth slower, within a day: too little to tell',
    factorAt: (window) => 1 + 0.1 * Math.min(1, daysInto(window)),
    isDrift: false,
  },
];

export const driftFromWindow = fromWindow;

/** Converts the case to a fault of the traffic. */
export function faultOf({ name, factorAt }: DriftCase): Fault {
  const always = { from: 0, to: Number.POSITIVE_INFINITY };
  return { kind: name, stage: 'forward', share: 1, ...always, factorAt };
}
