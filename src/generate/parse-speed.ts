import { OperatorError } from '../base/operator-error.ts';

/** Reads `max` as infinite, and a number as event time per wall time. @throws {OperatorError} otherwise */
export function parseSpeed(text: string): number {
  if (text === 'max') return Number.POSITIVE_INFINITY;
  const speed = text.trim() === '' ? Number.NaN : Number(text);
  if (speed > 0 && speed <= 1_000_000) return speed;
  throw new OperatorError(
    'TAILMARK_USAGE',
    `Cannot read --speed as it must be "max" or a number above 0, at most 1000000: it is ${JSON.stringify(text)}`,
    { hint: '1 is real time, 60 plays an hour in a minute.' },
  );
}
