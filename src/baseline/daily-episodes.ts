import type { StateArchive } from './state-archive.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;
/** What begins within so long of the same time of day may be the same thing again. */
const slackMs = 3 * minuteMs;
/** It began when there was evidence first, this long before it was clear at most: a young series takes a while. */
const mostUnclearMs = 5 * minuteMs;
/** It is the same if it is as clear as then after as long, up to so many times less or more. */
const same = { less: 3, more: 2 } as const;
/** It comes every day if it came on one of the last two; episodes are kept for a week, the last of them at most. */
const dailyMs = 2 * dayMs + 10 * minuteMs;
const keptMs = 7 * dayMs + 10 * minuteMs;
const mostEpisodes = 128;
/** How clear an episode was is kept by the minute, so many of them. */
const minutes = 20;
/** Of what is known by pieces of time only, it is not known how much of it a piece has: it may be so many times. */
const pieceOf = 2;
/** One is something by less, as it is held against a restlessness that it is a part of: ln 100. */
const leastOfPiece = Math.log(100);
/** Evidence from which on something is an episode, and the part of its peak below which it ends. */
const leastScore = 12;
const endShare = 1 / 3;
const endWindows = 6;

/**
 * It looks alike if the cosine of what speaks for each fault, then and now, is so much; that of two kinds of
 * fault is less. A few slow requests look like this or that: it takes so long to know.
 */
const alike = { cosine: 0.8, afterMs: 2 * minuteMs } as const;
/** Faults that are told apart, at most. */
const mostKinds = 16;
const noKind = new Float32Array(mostKinds);

interface Episode {
  /** When there was evidence first, and when it was clear: it began between these. */
  readonly sinceMs: number;
  readonly startMs: number;
  /** The most that requests had said up to each minute since it was clear. */
  readonly said: Float32Array;
  peak: number;
  /** The most evidence, and how much spoke for each fault then; all 0 where that is not known. */
  clearest: number;
  kind: ArrayLike<number>;
  /** Whether it is known only that it was somewhere between these, and what was said in all. */
  readonly isPiece: boolean;
}

/**
 * What was clear at some time, when it began and how it grew: what comes every day at six, and goes by
 * itself, pages once. Anomalies are remembered like all else. What begins at the same time but is far
 * clearer, or far less, is something else; and so is what looks like another fault.
 *
 * What is remembered is what requests said, which is the evidence times the restlessness that it was
 * divided by: a series that is young is taken to be restless, and the same burst is clearer the next day.
 *
 * Memory: 128 episodes of 200 bytes at most.
 */
export class DailyEpisodes {
  #past: Episode[] = [];
  #current: Episode | undefined;
  #quiet = 0;

  /** Evidence from which on there is something to take, or as long as an episode goes on. */
  static readonly leastScore = leastScore;

  get goesOn(): boolean {
    return this.#current !== undefined;
  }

  /**
   * Takes a window; windows come in order.
   *
   * @param evidence of windows up to it, in nats.
   * @param restlessness that it was divided by, at least 1.
   * @param sinceMs when the evidence began.
   * @param kind how much speaks for each of some faults, 16 at most; all that is comparable has the same ones.
   */
  take(
    windowStartMs: number,
    evidence: number,
    restlessness: number,
    sinceMs: number,
    kind: ArrayLike<number> = noKind,
  ): void {
    const now = evidence * restlessness;
    if (evidence >= leastScore && this.#current === undefined) {
      const said = new Float32Array(minutes);
      const leastMs = windowStartMs - mostUnclearMs;
      this.#current = {
        ...{ sinceMs: Math.max(sinceMs, leastMs), startMs: windowStartMs },
        ...{ peak: now, clearest: evidence, kind, said, isPiece: false },
      };
    }
    const episode = this.#current;
    if (episode === undefined) return;
    if (now > episode.peak) episode.peak = now;
    if (evidence > episode.clearest) {
      episode.clearest = evidence;
      episode.kind = kind;
    }
    episode.said.fill(episode.peak, minuteOf(windowStartMs - episode.startMs));
    this.#quiet = now < episode.peak * endShare ? this.#quiet + 1 : 0;
    if (this.#quiet < endWindows) return;
    this.#past.push(episode);
    this.#past = this.#past
      .filter((past) => windowStartMs - past.startMs < keptMs)
      .slice(-mostEpisodes);
    this.#current = undefined;
    this.#quiet = 0;
  }

  /**
   * Takes a piece of the past, before all else, of which it is known only now what it was.
   *
   * @param sinceMs what it has may have begun before it: from then on.
   * @param evidence of all its windows, in nats.
   */
  takePiece(sinceMs: number, endMs: number, evidence: number, restlessness: number): void {
    if (evidence < leastOfPiece) return;
    const peak = pieceOf * evidence * restlessness;
    const said = new Float32Array(minutes).fill(peak);
    const isOf = { sinceMs, startMs: endMs, said, peak, clearest: evidence };
    this.#past = [{ ...isOf, kind: noKind, isPiece: true }, ...this.#past];
  }

  /** Takes over what another series knows, which this one has come to replace. */
  inherit(other: DailyEpisodes): void {
    this.#past = [...other.#past];
  }

  /**
   * The evidence from which on what goes on is new, though something like it came at this time of the days
   * before: the clearest of a week counts. 0 where nothing came on the last two.
   *
   * @param restlessness that evidence is divided by now.
   */
  level(windowStartMs: number, restlessness: number): number {
    if (this.#current === undefined) return 0;
    // What fades is still what it was.
    const { startMs, sinceMs, peak, kind } = this.#current;
    let most = 0;
    let isDaily = false;
    const isKnown = windowStartMs - startMs >= alike.afterMs;
    for (const episode of this.#past) {
      const agoMs = startMs - episode.startMs;
      if (agoMs < dayMs / 2 || agoMs > keptMs) continue;
      const laterMs = ((agoMs + dayMs / 2) % dayMs) - dayMs / 2;
      if (laterMs - (startMs - sinceMs) > slackMs) continue;
      if (-laterMs - (episode.startMs - episode.sinceMs) > slackMs) continue;
      if (isKnown && cosineOf(kind, episode.kind) < alike.cosine) continue;
      // It may have begun a little earlier or later this time.
      const elapsedMs = windowStartMs - startMs + laterMs;
      const then = episode.said[minuteOf(elapsedMs + slackMs)] as number;
      const earlier = episode.said[minuteOf(elapsedMs - slackMs)] as number;
      if (elapsedMs >= 0 && !episode.isPiece && peak * same.less < earlier) continue;
      most = Math.max(most, then * same.more);
      isDaily ||= agoMs < dailyMs;
    }
    return isDaily ? most / restlessness : 0;
  }

  carry(state: StateArchive): void {
    state.section('daily episodes', 4, () => {
      this.#past = state.list(this.#past, (episode) => carryEpisode(state, episode));
      this.#current = state.optional(this.#current, (episode) => carryEpisode(state, episode));
      this.#quiet = state.number(this.#quiet);
    });
  }
}

function carryEpisode(state: StateArchive, episode: Episode | undefined): Episode {
  const { sinceMs = 0, startMs = 0, peak = 0, said = new Float32Array(minutes) } = episode ?? {};
  const carried = {
    ...{ sinceMs: state.number(sinceMs), startMs: state.number(startMs) },
    ...{ peak: state.number(peak), clearest: state.number(episode?.clearest ?? 0) },
    ...{ said, isPiece: state.flag(episode?.isPiece ?? false) },
  };
  state.fill(said);
  return { ...carried, kind: state.numbers(episode?.kind ?? noKind) };
}

/** Of two that are not known it is 1. */
function cosineOf(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [product, squareOfA, squareOfB] = [0, 0, 0];
  for (let i = 0; i < mostKinds; i++) {
    const [x, y] = [a[i] ?? 0, b[i] ?? 0];
    product += x * y;
    squareOfA += x * x;
    squareOfB += y * y;
  }
  const length = Math.sqrt(squareOfA * squareOfB);
  return length === 0 ? 1 : product / length;
}

function minuteOf(elapsedMs: number): number {
  return Math.min(minutes - 1, Math.max(0, Math.floor(elapsedMs / minuteMs)));
}
