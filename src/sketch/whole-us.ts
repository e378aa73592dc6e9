/** From here on doubles are whole numbers; adding it rounds a smaller one, ties to even. */
const WHOLE = 2 ** 52;

/**
 * Milliseconds >= 0 as microseconds, rounded as by `Math.round`. That branches on the fraction, which no
 * processor predicts: it took 40 % of the time of adding a value to its bucket.
 */
export function wholeUs(ms: number): number {
  const us = ms * 1000;
  if (us >= WHOLE) return us;
  const nearest = us + WHOLE - WHOLE;
  return us - nearest === 0.5 ? nearest + 1 : nearest;
}
