import { toNanosecond } from '../../span.ts';

/**
 * Hands on the milliseconds between each of the first `count` times and the next, to the nanosecond. Sorts
 * them where they are in no order. Returns the number of gaps.
 */
export function eachGap(times: Float64Array, count: number, add: (ms: number) => void): number {
  for (let i = 1; i < count; i++) {
    if ((times[i] as number) >= (times[i - 1] as number)) continue;
    times.subarray(0, count).sort();
    break;
  }
  for (let i = 1; i < count; i++) {
    add(toNanosecond((times[i] as number) - (times[i - 1] as number)));
  }
  return Math.max(0, count - 1);
}
