import { dayMs, minuteMs } from '../base/time.ts';

/** Leads the sentences on a mix of requests that differs, in the console and on pages. */
export const notLikeWithLike = 'Not like with like: B and A consist of other requests.';

/** Why a comparison of an open incident differs from the one of a minute ago. */
export const incidentIsOpen =
  'The incident is open: B ends with the last whole minute, and grows with each.';

/** A half-open range of event time, epoch milliseconds. */
export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Both sides of a comparison of a time with one before it. */
export interface ComparedTimes {
  readonly a: TimeSpan;
  readonly b: TimeSpan;
  /** Why A is where it is: next to B, or before what lies between; or less than B, as there is no more. */
  readonly place: 'next to it' | 'nearest' | 'shorter';
}

interface Surroundings {
  /** Start of what is stored. @default what is looked at */
  readonly firstMs?: number | undefined;
  /** Times that are no "before": those of incidents. */
  readonly taken?: readonly TimeSpan[];
}

/** How far back a time before is looked for. */
export const longestBeforeMs = 7 * dayMs;

/**
 * Compares a time with as much before it: the nearest that is stored and not taken, or the longest where none is
 * as long. A comparison has whole minutes: of the time those that lie wholly within it, where it has one.
 *
 * @returns undefined where there is no minute before it.
 */
export function comparedWithBefore(
  span: TimeSpan,
  { firstMs = 0, taken = [] }: Surroundings = {},
): ComparedTimes | undefined {
  const whole = { fromMs: minuteFrom(span.fromMs), toMs: minuteTo(span.toMs) };
  const b = whole.fromMs < whole.toMs ? whole : span;
  const lengthMs = b.toMs - b.fromMs;
  // The range before ends with the last minute without any of it.
  const endMs = minuteTo(span.fromMs);
  const earliestMs = minuteFrom(Math.max(0, firstMs, endMs - longestBeforeMs));
  const gaps = gapsBefore(endMs, earliestMs, taken);
  const fitting = gaps.find(({ fromMs, toMs }) => toMs - fromMs >= lengthMs);
  if (fitting !== undefined) {
    const { toMs } = fitting;
    return {
      a: { fromMs: toMs - lengthMs, toMs },
      b,
      place: toMs === endMs ? 'next to it' : 'nearest',
    };
  }
  const [longest] = gaps.toSorted((x, y) => y.toMs - y.fromMs - (x.toMs - x.fromMs));
  return longest && { a: longest, b, place: 'shorter' };
}

/** Whole minutes between times that are taken, the latest first. */
function gapsBefore(endMs: number, earliestMs: number, taken: readonly TimeSpan[]): TimeSpan[] {
  const gaps: TimeSpan[] = [];
  let toMs = endMs;
  const add = (fromMs: number) => {
    const from = Math.max(fromMs, earliestMs);
    if (from < toMs) gaps.push({ fromMs: from, toMs });
  };
  for (const each of taken.toSorted((x, y) => y.toMs - x.toMs)) {
    if (each.fromMs >= endMs) continue;
    add(minuteFrom(each.toMs));
    toMs = Math.min(toMs, minuteTo(each.fromMs));
  }
  add(earliestMs);
  return gaps;
}

const minuteFrom = (ms: number) => Math.ceil(ms / minuteMs) * minuteMs;
const minuteTo = (ms: number) => Math.floor(ms / minuteMs) * minuteMs;
