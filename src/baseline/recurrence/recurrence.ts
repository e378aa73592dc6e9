import { dayMs, hourMs, minuteMs } from '../../base/time.ts';

/**
 * Conditions under which an episode recurs. Each number is held by recurrence.test.ts.
 *
 * | name         | unit  | why                                                                        |
 * |--------------|-------|----------------------------------------------------------------------------|
 * | slackMs      | ms    | a scheduler starts a job some minutes late or early                        |
 * | clearer      | times | the same job against a baseline that has learnt more or less of it         |
 * | weaker       | times | the same                                                                   |
 * | cosine       |       | over 0.9 for a job and itself, mostly below 0.7 for two kinds of fault     |
 * | shapeAfterMs | ms    | a few slow requests resemble any fault: before that shapes are not compared |
 * | keptMs       | ms    | a week and the slack: a weekly job is expected, too                        |
 * | lastingMs    | ms    | the longest duration that a past episode predicts for today's              |
 * | partOfPeriod |       | a job is short against its period; what fills more of it is a leak          |
 */
export const recurrence = {
  slackMs: 5 * minuteMs,
  clearer: 2,
  weaker: 3,
  cosine: 0.8,
  shapeAfterMs: 2 * minuteMs,
  keptMs: 7 * dayMs + 10 * minuteMs,
  lastingMs: hourMs,
  partOfPeriod: 1 / 3,
} as const;

/** Days ago, as bits, of which one suffices: the last two (a daily job), or a week (a weekly one). */
const daysThatSuffice = 0b1000_0110;
/** Number of other days that are needed: a job of working days comes on Monday, too. */
const minDays = 2;

/** A period of evidence. */
export interface Episode {
  /** Time of the first evidence. */
  readonly sinceMs: number;
  /** Time at which the evidence was clear. The episode began between `sinceMs` and this time. */
  readonly startMs: number;
  /** Time of the last evidence. */
  endMs: number;
  /** Maximum strength by the end of each minute; the last one includes all later ones. */
  readonly peaksByMinute: Float32Array;
  peak: number;
  /** Evidence for each fault, from the first minutes; empty, or all 0, where unknown. */
  shape: ArrayLike<number>;
  /** True if only the strength is known, and that the episode was between the two times. */
  readonly isPiece: boolean;
}

export interface Expected {
  /** Maximum strength at this age on the days before. */
  readonly peak: number;
  /** Latest end of today's episode. */
  readonly endMs: number;
}

/** Past episodes at the same time of day as today's, or an hour before or after it. */
interface Match {
  /** Delay of today's episode. */
  readonly laterMs: number;
  /** Days ago, as bits; bit 0 is today. */
  days: number;
  peak: number;
  lastedMs: number;
}

/** A past episode of the last hours that is like today's. */
interface Recent {
  readonly agoMs: number;
  readonly peak: number;
  readonly lastedMs: number;
}

/** Scratch: the same time, and an hour before or after it, for changes of the clocks. */
const matches: readonly Match[] = [0, hourMs, -hourMs].map((laterMs) => ({
  ...{ laterMs, days: 0, peak: 0, lastedMs: 0 },
}));

/**
 * Finds the past episode of which today's is a recurrence: of the same time of day, and similar in shape and
 * in strength at this age. An episode of two other days is also expected an hour later or earlier, unless it
 * has come today. Jobs run in local time, and clocks change. A period below half a day is known once two past
 * episodes are as far apart as the last one and today's: the third of an hourly job is expected.
 *
 * O(episodes of the past); allocates its result and the episodes of the last day.
 *
 * @param current the open episode.
 */
export function expectedEpisode(
  past: readonly Episode[],
  current: Episode,
  windowStartMs: number,
): Expected | undefined {
  for (const match of matches) match.days = match.peak = match.lastedMs = 0;
  const recent: Recent[] = [];
  const { slackMs, lastingMs, keptMs } = recurrence;
  const ageMs = windowStartMs - current.startMs;
  for (const episode of past) {
    const agoMs = current.startMs - episode.startMs;
    if (agoMs <= dayMs) {
      const seen = recentOf(current, episode, ageMs);
      if (seen !== undefined) recent.push(seen);
    }
    const match = agoMs > keptMs ? undefined : matchOf(current, episode);
    if (match === undefined) continue;
    // Today's episode may have begun earlier or later: the age is that of the past one.
    const thenMs = ageMs + laterMsOf(agoMs - match.laterMs);
    if (!isAlike(current, episode, ageMs) || isFarWeaker(current, episode, thenMs)) continue;
    match.days |= 1 << daysOf(agoMs - match.laterMs);
    match.peak = Math.max(
      match.peak,
      episode.peaksByMinute[minuteOf(thenMs + slackMs, episode)] as number,
    );
    match.lastedMs = Math.max(match.lastedMs, Math.min(episode.endMs - episode.startMs, lastingMs));
  }
  const found = matches.find(isExpected) ?? periodic(recent);
  return found && { peak: found.peak, endMs: current.startMs + found.lastedMs + slackMs };
}

/** The last episode, where another one was as long before it as today's is after it. */
function periodic(recent: readonly Recent[]): Recent | undefined {
  const { slackMs, partOfPeriod } = recurrence;
  return recent.find(
    (last) =>
      last.agoMs <= dayMs / 2 &&
      last.lastedMs <= partOfPeriod * last.agoMs &&
      recent.some(({ agoMs, lastedMs }) => {
        const isShort = lastedMs <= partOfPeriod * last.agoMs;
        return isShort && Math.abs(agoMs - 2 * last.agoMs) <= Math.min(slackMs, last.agoMs / 6);
      }),
  );
}

/** An episode that is like today's so far; undefined where it is not, or where only its strength is known. */
function recentOf(current: Episode, past: Episode, ageMs: number): Recent | undefined {
  if (past.isPiece || !isAlike(current, past, ageMs) || isFarWeaker(current, past, ageMs)) {
    return undefined;
  }
  return {
    agoMs: current.startMs - past.startMs,
    peak: past.peaksByMinute[minuteOf(ageMs + recurrence.slackMs, past)] as number,
    lastedMs: past.endMs - past.startMs,
  };
}

/** Index of an age in the peaks by minute. */
export function minuteOf(ageMs: number, { peaksByMinute }: Pick<Episode, 'peaksByMinute'>): number {
  return Math.min(peaksByMinute.length - 1, Math.max(0, Math.floor(ageMs / minuteMs)));
}

function isExpected({ laterMs, days }: Match): boolean {
  if (laterMs === 0 && (days & daysThatSuffice) !== 0) return true;
  const isToday = (days & 1) !== 0;
  return !isToday && countOf(days) >= minDays;
}

function matchOf(current: Episode, past: Episode): Match | undefined {
  const agoMs = current.startMs - past.startMs;
  const mayBeLaterMs = current.startMs - current.sinceMs + recurrence.slackMs;
  const mayBeEarlierMs = past.startMs - past.sinceMs + recurrence.slackMs;
  return matches.find((match) => {
    const laterMs = laterMsOf(agoMs - match.laterMs);
    // An episode of the last hours does not recur daily.
    if (match.laterMs === 0 && agoMs < dayMs / 2) return false;
    return laterMs <= mayBeLaterMs && -laterMs <= mayBeEarlierMs;
  });
}

function isAlike(current: Episode, past: Episode, ageMs: number): boolean {
  if (ageMs < recurrence.shapeAfterMs) return true;
  return cosineOf(current.shape, past.shape) >= recurrence.cosine;
}

/** Returns true if it is far weaker than the past one was at an age that it had certainly reached. */
function isFarWeaker(current: Episode, past: Episode, thenMs: number): boolean {
  const reachedMs = thenMs - recurrence.slackMs - minuteMs;
  if (past.isPiece || reachedMs < 0) return false;
  // The last minute includes later ones.
  const minute = Math.min(minuteOf(reachedMs, past), past.peaksByMinute.length - 2);
  return current.peak * recurrence.weaker < (past.peaksByMinute[minute] as number);
}

function daysOf(agoMs: number): number {
  return Math.round(agoMs / dayMs);
}

/** Delay in the day; negative if earlier. */
function laterMsOf(agoMs: number): number {
  return agoMs - dayMs * daysOf(agoMs);
}

function countOf(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

/** Cosine of two shapes; 1 where one is unknown. */
function cosineOf(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [product, squareOfA, squareOfB] = [0, 0, 0];
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const [x, y] = [a[i] ?? 0, b[i] ?? 0];
    product += x * y;
    squareOfA += x * x;
    squareOfB += y * y;
  }
  const norm = Math.sqrt(squareOfA * squareOfB);
  return norm === 0 ? 1 : product / norm;
}
