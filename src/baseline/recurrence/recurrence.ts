const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/**
 * When an episode is one of the past again. Each number is held by recurrence.test.ts.
 *
 * | name         | unit  | why                                                                       |
 * |--------------|-------|---------------------------------------------------------------------------|
 * | slackMs      | ms    | a scheduler starts a job some minutes late or early                       |
 * | clearer      | times | the same job against a baseline that has learnt more or less of it        |
 * | weaker       | times | the same                                                                  |
 * | cosine       |       | over 0.9 for a job and itself, mostly below 0.7 for two kinds of fault    |
 * | shapeAfterMs | ms    | a few slow requests resemble any fault: until then the shape is not asked |
 * | keptMs       | ms    | a week and the slack: a weekly job is expected, too                       |
 * | lastingMs    | ms    | the most that an episode of the past says of how long today's goes on     |
 */
export const recurrence = {
  slackMs: 5 * minuteMs,
  clearer: 2,
  weaker: 3,
  cosine: 0.8,
  shapeAfterMs: 2 * minuteMs,
  keptMs: 7 * dayMs + 10 * minuteMs,
  lastingMs: hourMs,
} as const;

/** Days ago of which one suffices, as bits: one of the last two (a daily job), or a week (a weekly one). */
const daysThatSuffice = 0b1000_0110;
/** Of all other days of the week it takes so many: a job of working days comes on Monday, too. */
const leastDays = 2;

/** Something that stood out for a while. */
export interface Episode {
  /** When the first evidence came. */
  readonly sinceMs: number;
  /** When the evidence was clear. The episode began between the two. */
  readonly startMs: number;
  /** When there was evidence last. */
  endMs: number;
  /** By the end of each minute, the most that requests had said; the last has all later ones. */
  readonly peaksByMinute: Float32Array;
  peak: number;
  /** How much speaks for each fault, from the first minutes; empty, or all 0, where that is not known. */
  shape: ArrayLike<number>;
  /** Whether only this is known: it lies somewhere between the two times, and what was said in all. */
  readonly isPiece: boolean;
}

/** An episode that is expected now. */
export interface Expected {
  /** The most that requests had said by this age on the days before. */
  readonly peak: number;
  /** Until when the episode of today may go on. */
  readonly endMs: number;
}

/** Episodes of the past that today's is compared with: those of the same time of day, or of an hour aside. */
interface Appointment {
  /** How much later it comes today. */
  readonly laterMs: number;
  /** Days ago on which it came, as bits; bit 0 is today. */
  days: number;
  peak: number;
  lastedMs: number;
}

/** Scratch: on time, and an hour aside, where the clocks have changed. */
const appointments: readonly Appointment[] = [0, hourMs, -hourMs].map((laterMs) => ({
  ...{ laterMs, days: 0, peak: 0, lastedMs: 0 },
}));

/**
 * The episode of the past that today's one is again, if it is one: at this time of day, alike in shape, and
 * about as clear at the same age. An episode that came on two other days of the week is expected an hour later
 * or earlier as well, unless it has come today: the job runs in local time, and the clocks have changed.
 *
 * O(episodes of the past); allocates only what it returns.
 *
 * @param current what goes on.
 */
export function expectedEpisode(
  past: readonly Episode[],
  current: Episode,
  windowStartMs: number,
): Expected | undefined {
  for (const at of appointments) at.days = at.peak = at.lastedMs = 0;
  const { slackMs, lastingMs, keptMs } = recurrence;
  const ageMs = windowStartMs - current.startMs;
  for (const episode of past) {
    const agoMs = current.startMs - episode.startMs;
    const at = agoMs > keptMs ? undefined : appointmentOf(current, episode);
    if (at === undefined) continue;
    // Today it may have begun a little earlier or later: the ages are those of the past one.
    const thenMs = ageMs + laterMsOf(agoMs - at.laterMs);
    if (!isAlike(current, episode, ageMs) || isFarWeaker(current, episode, thenMs)) continue;
    at.days |= 1 << daysOf(agoMs - at.laterMs);
    at.peak = Math.max(
      at.peak,
      episode.peaksByMinute[minuteOf(thenMs + slackMs, episode)] as number,
    );
    at.lastedMs = Math.max(at.lastedMs, Math.min(episode.endMs - episode.startMs, lastingMs));
  }
  const found = appointments.find(isKept);
  return found && { peak: found.peak, endMs: current.startMs + found.lastedMs + slackMs };
}

/** The minute of an age, in what was said by minutes. */
export function minuteOf(ageMs: number, { peaksByMinute }: Pick<Episode, 'peaksByMinute'>): number {
  return Math.min(peaksByMinute.length - 1, Math.max(0, Math.floor(ageMs / minuteMs)));
}

function isKept({ laterMs, days }: Appointment): boolean {
  if (laterMs === 0 && (days & daysThatSuffice) !== 0) return true;
  const isToday = (days & 1) !== 0;
  return !isToday && countOf(days) >= leastDays;
}

function appointmentOf(current: Episode, past: Episode): Appointment | undefined {
  const agoMs = current.startMs - past.startMs;
  const mayBeLaterMs = current.startMs - current.sinceMs + recurrence.slackMs;
  const mayBeEarlierMs = past.startMs - past.sinceMs + recurrence.slackMs;
  return appointments.find((at) => {
    const laterMs = laterMsOf(agoMs - at.laterMs);
    // What came a moment ago is not what comes every day.
    if (at.laterMs === 0 && agoMs < dayMs / 2) return false;
    return laterMs <= mayBeLaterMs && -laterMs <= mayBeEarlierMs;
  });
}

function isAlike(current: Episode, past: Episode, ageMs: number): boolean {
  if (ageMs < recurrence.shapeAfterMs) return true;
  return cosineOf(current.shape, past.shape) >= recurrence.cosine;
}

/** Whether far less was said than at an age that the past one had reached for certain, if it had any. */
function isFarWeaker(current: Episode, past: Episode, thenMs: number): boolean {
  const reachedMs = thenMs - recurrence.slackMs - minuteMs;
  if (past.isPiece || reachedMs < 0) return false;
  // The last minute holds what came after it, too.
  const minute = Math.min(minuteOf(reachedMs, past), past.peaksByMinute.length - 2);
  return current.peak * recurrence.weaker < (past.peaksByMinute[minute] as number);
}

function daysOf(agoMs: number): number {
  return Math.round(agoMs / dayMs);
}

/** How much later in the day, or earlier. */
function laterMsOf(agoMs: number): number {
  return agoMs - dayMs * daysOf(agoMs);
}

function countOf(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

/** 1 where one of the two is not known. */
function cosineOf(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [product, squareOfA, squareOfB] = [0, 0, 0];
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const [x, y] = [a[i] ?? 0, b[i] ?? 0];
    product += x * y;
    squareOfA += x * x;
    squareOfB += y * y;
  }
  const length = Math.sqrt(squareOfA * squareOfB);
  return length === 0 ? 1 : product / length;
}
