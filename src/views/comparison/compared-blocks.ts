import { hourSeconds, minuteSeconds } from '../../base/time.ts';
import { ImpossibleQuestion } from '../impossible-question.ts';
import type { ComparedSide, SidesQuery } from './read-sides.ts';

/** One side: a version, or ('') all versions, over a range. */
export interface AskedSide {
  readonly version: string;
  readonly fromMs: number;
  readonly toMs: number;
}

interface Asked {
  readonly a: AskedSide;
  readonly b: AskedSide;
  /** Later windows are left out. */
  readonly completeMs: number;
  /** Earlier minutes are no longer kept: what begins before then is compared by hours. */
  readonly minutesFromMs: number;
  /** @default `mostBlocks` of the shorter side */
  readonly blockSeconds?: number;
}

/** Blocks of one comparison: each costs some passes of the test. A minute is the shortest. */
const mostBlocks = 120;

/**
 * The blocks that two sides are compared in, and the table that has them. Ranges begin at whole blocks and
 * are cut to the same length, to the end of the last complete block.
 *
 * @throws ImpossibleQuestion
 */
export function comparedBlocks({ a, b, completeMs, minutesFromMs, blockSeconds }: Asked): Pick<
  SidesQuery,
  'a' | 'b' | 'blockSeconds' | 'table'
> & {
  readonly remainingMinutes: number;
} {
  const length = Math.min(a.toMs - a.fromMs, b.toMs - b.fromMs) / 1000;
  if (!(length > 0)) throw new ImpossibleQuestion('Each side must end after it begins.');
  const isOld = Math.min(a.fromMs, b.fromMs) < minutesFromMs;
  const block = blockSeconds ?? wholeBlock(length / mostBlocks, isOld);
  const unit = block % hourSeconds === 0 ? hourSeconds : minuteSeconds;
  const [fromA, fromB] = [a, b].map(({ fromMs }) => floorTo(Math.max(0, fromMs) / 1000, unit));
  const complete = (fromSeconds = 0, toMs: number) =>
    Math.max(0, Math.min(toMs, completeMs) / 1000 - fromSeconds);
  const shorter = Math.min(complete(fromA, a.toMs), complete(fromB, b.toMs));
  const seconds = floorTo(shorter, block);
  const sideOf = (version: string, fromSeconds = 0): ComparedSide => ({
    ...{ version, fromSeconds, toSeconds: fromSeconds + seconds },
  });
  return {
    a: sideOf(a.version, fromA),
    b: sideOf(b.version, fromB),
    blockSeconds: block,
    remainingMinutes: remainingMinutesOf([fromA, fromB], length, completeMs),
    table: unit === hourSeconds ? 'latency_1h' : 'latency_1m',
  };
}

/** Minutes of the longer side that are not complete yet; the shorter one has no more to compare with. */
function remainingMinutesOf(
  fromSeconds: readonly (number | undefined)[],
  seconds: number,
  completeMs: number,
): number {
  const endSeconds = Math.max(...fromSeconds.map((from = 0) => from + seconds));
  return Math.max(0, endSeconds - completeMs / 1000) / minuteSeconds;
}

/** Whole minutes below an hour, whole hours from there on. */
function wholeBlock(seconds: number, isOld: boolean): number {
  const unit = isOld || seconds > hourSeconds / 2 ? hourSeconds : minuteSeconds;
  return Math.max(1, Math.ceil(seconds / unit)) * unit;
}

function floorTo(seconds: number, unit: number): number {
  return Math.floor(seconds / unit) * unit;
}
