import { dayMs, hourMs, minuteMs, secondMs } from '../../../../src/base/time.ts';

const steps = [
  ...[1, 2, 5, 10, 15, 30].map((n) => n * secondMs),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * minuteMs),
  ...[1, 2, 3, 6, 12].map((n) => n * hourMs),
  ...[1, 2, 7, 14, 28, 56, 112, 365].map((n) => n * dayMs),
];

/** Round times for an axis. */
export interface TimeTicks {
  readonly times: readonly number[];
  readonly stepMs: number;
}

/**
 * Round times in [from, to] by the clock of a zone.
 *
 * @param offsetMs what that clock shows minus UTC, at a time.
 */
export function timeTicks(
  fromMs: number,
  toMs: number,
  most: number,
  offsetMs: (atMs: number) => number,
): TimeTicks {
  const rough = (toMs - fromMs) / Math.max(1, most);
  const stepMs = steps.find((step) => step >= rough) ?? steps[steps.length - 1] ?? dayMs;
  const times: number[] = [];
  let local = Math.ceil((fromMs + offsetMs(fromMs)) / stepMs) * stepMs;
  for (; times.length <= most + 1; local += stepMs) {
    const guess = local - offsetMs(fromMs);
    const at = local - offsetMs(guess);
    if (at > toMs) break;
    if (at >= fromMs) times.push(at);
  }
  return { times, stepMs };
}
