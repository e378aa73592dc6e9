import type { StateArchive } from '../../snapshot/archive.ts';
import { type Episode, expectedEpisode, minuteOf, recurrence } from './recurrence.ts';

const minuteMs = 60_000;
/** An episode began with its first evidence, so long before it was clear at most: a young series takes a while. */
const mostUnclearMs = 5 * minuteMs;
const mostEpisodes = 128;
/** How clear an episode was is kept by the minute, so many of them. */
const minutes = 20;
/**
 * The shape is that of the first minutes. Later the baseline and the forecast follow the episode, and the
 * evidence for one fault after the other ends.
 */
const shapeUntilMs = 5 * minuteMs;
/** A piece of time may hold a part of an episode only, which then said so many times as much. */
const pieceOf = 2;
/** One is something by less, as it is held against a restlessness that it is a part of: ln 100. */
const leastOfPiece = Math.log(100);
/** Evidence from which on something is an episode, and the part of its peak below which it ends. */
const leastScore = 12;
const endShare = 1 / 3;
const endWindows = 6;
const noShape = new Float32Array(0);

/** What goes on, and the most evidence that its shape was taken from. */
interface Current extends Episode {
  clearest: number;
}

/**
 * Episodes of a week: when each began, how it grew, and what it looked like. An episode that comes again
 * (`recurrence`) pages once. Anomalies are remembered like all else.
 *
 * What is remembered is what requests said, which is the evidence times the restlessness that it was
 * divided by: a series that is young is taken to be restless, and the same burst is clearer the next day.
 *
 * Memory: 128 episodes of 200 bytes at most.
 */
export class DailyRecurrence {
  #past: Episode[] = [];
  #current: Current | undefined;
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
   * @param shape how much speaks for each of some faults; all that is comparable has the same ones.
   */
  observe(
    windowStartMs: number,
    evidence: number,
    varianceInflation: number,
    sinceMs: number,
    shape: ArrayLike<number> = noShape,
  ): void {
    if (evidence >= leastScore && this.#current === undefined) {
      const leastMs = windowStartMs - mostUnclearMs;
      this.#current = {
        ...{ sinceMs: Math.max(sinceMs, leastMs), startMs: windowStartMs, endMs: windowStartMs },
        ...{
          peaksByMinute: new Float32Array(minutes),
          peak: 0,
          clearest: 0,
          shape,
          isPiece: false,
        },
      };
    }
    const episode = this.#current;
    if (episode === undefined) return;
    const strength = evidence * varianceInflation;
    const ageMs = windowStartMs - episode.startMs;
    if (strength > episode.peak) episode.peak = strength;
    if (evidence >= leastScore) episode.endMs = windowStartMs;
    if (evidence > episode.clearest && ageMs < shapeUntilMs) {
      episode.clearest = evidence;
      episode.shape = shape;
    }
    episode.peaksByMinute.fill(episode.peak, minuteOf(ageMs, episode));
    this.#quiet = strength < episode.peak * endShare ? this.#quiet + 1 : 0;
    if (this.#quiet >= endWindows) this.#endUnlessExpected(episode, windowStartMs);
  }

  /**
   * Takes a piece of the past, before all else, of which it is known only now what it was.
   *
   * @param sinceMs what it has may have begun before it: from then on.
   * @param evidence of all its windows, in nats.
   */
  takePiece(sinceMs: number, endMs: number, evidence: number, varianceInflation: number): void {
    if (evidence < leastOfPiece) return;
    const peak = pieceOf * evidence * varianceInflation;
    const peaksByMinute = new Float32Array(minutes).fill(peak);
    const piece = {
      sinceMs,
      startMs: endMs,
      endMs,
      peaksByMinute,
      peak,
      shape: noShape,
      isPiece: true,
    };
    this.#past = [piece, ...this.#past];
  }

  /** Takes over what another series knows, which this one has come to replace. */
  inherit(other: DailyRecurrence): void {
    this.#past = [...other.#past];
  }

  /**
   * The evidence from which on the current episode is new, though one like it is expected now: so many times
   * the clearest of the week at this age (`recurrence`). 0 where none is expected.
   *
   * @param restlessness that evidence is divided by now.
   */
  level(windowStartMs: number, varianceInflation: number): number {
    if (this.#current === undefined) return 0;
    const expected = expectedEpisode(this.#past, this.#current, windowStartMs);
    return expected === undefined ? 0 : (expected.peak * recurrence.clearer) / varianceInflation;
  }

  serialize(state: StateArchive): void {
    state.section('daily episodes', 5, () => {
      this.#past = state.list(this.#past, (episode) => serializeEpisode(state, episode));
      this.#current = state.optional(this.#current, (current) => ({
        ...serializeEpisode(state, current),
        clearest: state.number(current?.clearest ?? 0),
      }));
      this.#quiet = state.number(this.#quiet);
    });
  }

  /** The evidence of a long job ends and begins again: it is one episode for as long as on the days before. */
  #endUnlessExpected(episode: Episode, windowStartMs: number): void {
    const expected = expectedEpisode(this.#past, episode, windowStartMs);
    if (expected !== undefined && windowStartMs < expected.endMs) return;
    this.#past.push(episode);
    this.#past = this.#past
      .filter((past) => windowStartMs - past.startMs < recurrence.keptMs)
      .slice(-mostEpisodes);
    this.#current = undefined;
    this.#quiet = 0;
  }
}

function serializeEpisode(state: StateArchive, episode: Episode | undefined): Episode {
  const { sinceMs = 0, startMs = 0, endMs = 0, peak = 0 } = episode ?? {};
  const peaksByMinute = episode?.peaksByMinute ?? new Float32Array(minutes);
  const restored = {
    ...{ sinceMs: state.number(sinceMs), startMs: state.number(startMs) },
    ...{ endMs: state.number(endMs), peak: state.number(peak), peaksByMinute },
    isPiece: state.flag(episode?.isPiece ?? false),
  };
  state.fill(peaksByMinute);
  return { ...restored, shape: state.numbers(episode?.shape ?? noShape) };
}
