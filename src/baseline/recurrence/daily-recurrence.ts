import { minuteMs } from '../../base/time.ts';
import { type StateArchive, serializeFields } from '../../snapshot/archive.ts';
import { type Episode, expectedEpisode, minuteOf, recurrence } from './recurrence.ts';

/** Tuned with `npm run eval`; test/baseline/recurrence/daily-recurrence.test.ts holds them. */
const tuned = {
  /** An episode begins with its first evidence, but at most this long before it is clear. */
  maxUnclearMs: 5 * minuteMs,
  maxEpisodes: 128,
  /** Minutes of an episode for which the peak is recorded. */
  minutes: 20,
  /**
   * An episode's shape is that of its first minutes. Later the baseline and the forecast follow the episode,
   * and the evidence for one fault after the other ends.
   */
  shapeUntilMs: 5 * minuteMs,
  /** Factor for a piece of history, which may hold only a part of an episode. */
  pieceFactor: 2,
  /** Minimum evidence of a piece, ln 100: low, as its overdispersion includes the episode itself. */
  minPieceEvidence: Math.log(100),
  /** Evidence that begins an episode, and the share of its peak below which it ends. */
  leastScore: 12,
  endPeakShare: 1 / 3,
  endWindows: 6,
} as const;
const noShape = new Float32Array(0);
const emptyFields = { sinceMs: 0, startMs: 0, endMs: 0, peak: 0, isPiece: false };

/** The open episode, and the evidence from which its shape was taken. */
interface Current extends Episode {
  clearest: number;
}

/**
 * Episodes of a week: when each began, how it grew, and its shape. A recurring episode (`recurrence`) pages
 * once. Anomalies are episodes too.
 *
 * The strength of an episode is its evidence times the overdispersion by which the evidence was divided. A
 * young series is assumed to be overdispersed, and the same burst is clearer the next day.
 *
 * Memory: 128 episodes of 200 bytes at most.
 */
export class DailyRecurrence {
  #past: Episode[] = [];
  #current: Current | undefined;
  #weakWindows = 0;

  /** Evidence from which on windows must be observed; while an episode is open, all must. */
  static readonly leastScore = tuned.leastScore;

  get isOpen(): boolean {
    return this.#current !== undefined;
  }

  /**
   * Observes a window; windows come in order.
   *
   * @param evidence of windows up to it, in nats.
   * @param varianceInflation by which the evidence was divided, at least 1.
   * @param sinceMs when the evidence began.
   * @param shape evidence for each of some faults, the same ones in each call.
   */
  observe(
    windowStartMs: number,
    evidence: number,
    varianceInflation: number,
    sinceMs: number,
    shape: ArrayLike<number> = noShape,
  ): void {
    if (evidence >= tuned.leastScore && this.#current === undefined) {
      const earliestMs = windowStartMs - tuned.maxUnclearMs;
      this.#current = {
        sinceMs: Math.max(sinceMs, earliestMs),
        startMs: windowStartMs,
        endMs: windowStartMs,
        ...{ peaksByMinute: new Float32Array(tuned.minutes), peak: 0 },
        ...{ clearest: 0, shape, isPiece: false },
      };
    }
    const episode = this.#current;
    if (episode === undefined) return;
    const strength = evidence * varianceInflation;
    const ageMs = windowStartMs - episode.startMs;
    if (strength > episode.peak) episode.peak = strength;
    if (evidence >= tuned.leastScore) episode.endMs = windowStartMs;
    if (evidence > episode.clearest && ageMs < tuned.shapeUntilMs) {
      episode.clearest = evidence;
      episode.shape = shape;
    }
    episode.peaksByMinute.fill(episode.peak, minuteOf(ageMs, episode));
    this.#weakWindows = strength < episode.peak * tuned.endPeakShare ? this.#weakWindows + 1 : 0;
    if (this.#weakWindows >= tuned.endWindows) this.#endUnlessExpected(episode, windowStartMs);
  }

  /**
   * Adds a piece of the first hour, which can be evaluated only now, before all other episodes.
   *
   * @param sinceMs earliest time at which its episode may have begun.
   * @param evidence of all its windows, in nats.
   */
  addPiece(sinceMs: number, endMs: number, evidence: number, varianceInflation: number): void {
    if (evidence < tuned.minPieceEvidence) return;
    const peak = tuned.pieceFactor * evidence * varianceInflation;
    const peaksByMinute = new Float32Array(tuned.minutes).fill(peak);
    const between = { sinceMs, startMs: endMs, endMs };
    this.#past = [
      { ...between, peaksByMinute, peak, shape: noShape, isPiece: true },
      ...this.#past,
    ];
  }

  /** Takes over the episodes of the series that this one replaces. */
  inherit(other: DailyRecurrence): void {
    this.#past = [...other.#past];
  }

  /**
   * Threshold of evidence above which the open episode is new although one like it is expected:
   * `recurrence.clearer` times the week's maximum at this age. 0 if none is expected.
   *
   * @param varianceInflation by which evidence is divided now.
   */
  threshold(windowStartMs: number, varianceInflation: number): number {
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
      this.#weakWindows = state.number(this.#weakWindows);
    });
  }

  /** Ends the episode unless it lasted longer on earlier days: evidence of a long job pauses and resumes. */
  #endUnlessExpected(episode: Episode, windowStartMs: number): void {
    const expected = expectedEpisode(this.#past, episode, windowStartMs);
    if (expected !== undefined && windowStartMs < expected.endMs) return;
    this.#past.push(episode);
    this.#past = this.#past
      .filter((past) => windowStartMs - past.startMs < recurrence.keptMs)
      .slice(-tuned.maxEpisodes);
    this.#current = undefined;
    this.#weakWindows = 0;
  }
}

function serializeEpisode(state: StateArchive, episode: Episode | undefined): Episode {
  const fields = serializeFields(state, episode, emptyFields);
  const peaksByMinute = episode?.peaksByMinute ?? new Float32Array(tuned.minutes);
  state.fill(peaksByMinute);
  return { ...fields, peaksByMinute, shape: state.numbers(episode?.shape ?? noShape) };
}
