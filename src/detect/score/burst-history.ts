import type { StateArchive } from '../../snapshot/archive.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;
/** What went by itself within so long was short. */
const shortMs = 10 * minuteMs;
/** Episodes are kept for two weeks, the last of them at most. */
const keptMs = 14 * dayMs;
const mostEpisodes = 64;
/**
 * What came so often is known. It is more than that if it is so many times as clear as the clearest but
 * one.
 */
const knownTimes = 3;
const clearer = 1.5;
/** A score from which on something is an episode, and the part of its peak below which it ends. */
const leastScore = 12;
const endShare = 1 / 3;
const endWindows = 6;
const minutes = shortMs / minuteMs;

interface Episode {
  readonly startMs: number;
  /** The highest score up to each minute from then on. */
  readonly scores: Float32Array;
  peak: number;
  /** When it was last as clear as that. */
  peakMs: number;
}

/**
 * What was clear for a short while and went by itself, told or not: a pod that restarts, a client that
 * retries. What came like this three times in two weeks is known, and something that begins alike is news
 * only when it is clearer, or lasts longer.
 *
 * Memory: 64 episodes of 40 bytes at most.
 */
export class BurstHistory {
  #past: Episode[] = [];
  #current: Episode | undefined;
  #quiet = 0;

  /** A score from which on there is something to take, or as long as an episode goes on. */
  static readonly leastScore = leastScore;

  get goesOn(): boolean {
    return this.#current !== undefined;
  }

  /** Takes the score of a window; windows come in order. */
  observe(windowStartMs: number, score: number): void {
    if (score < leastScore && this.#current === undefined) return;
    this.#current ??= begun(windowStartMs);
    const episode = this.#current;
    if (score > episode.peak) {
      episode.peak = score;
      episode.peakMs = windowStartMs;
    }
    episode.scores.fill(episode.peak, minuteOf(windowStartMs - episode.startMs));
    this.#quiet = score < episode.peak * endShare ? this.#quiet + 1 : 0;
    if (this.#quiet < endWindows) return;
    if (episode.peakMs - episode.startMs < shortMs) this.#past.push(episode);
    this.#past = this.#past
      .filter(({ startMs }) => windowStartMs - startMs < keptMs)
      .slice(-mostEpisodes);
    this.#current = undefined;
    this.#quiet = 0;
  }

  /** The score from which on what goes on is more than what is known; 0 where nothing is. */
  level(windowStartMs: number): number {
    if (this.#current === undefined || this.#past.length < knownTimes) return 0;
    // Something may have begun a little faster than this time.
    const minute = minuteOf(windowStartMs + minuteMs - this.#current.startMs);
    let [most, second] = [0, 0];
    for (const { scores } of this.#past) {
      const score = scores[minute] as number;
      if (score > most) [most, second] = [score, most];
      else if (score > second) second = score;
    }
    return second * clearer;
  }

  serialize(state: StateArchive): void {
    state.section('short episodes', 1, () => {
      this.#past = state.list(this.#past, (episode) => serializeEpisode(state, episode));
      this.#current = state.optional(this.#current, (episode) => serializeEpisode(state, episode));
      this.#quiet = state.number(this.#quiet);
    });
  }
}

function serializeEpisode(state: StateArchive, saved: Episode | undefined): Episode {
  const episode = saved ?? begun(0);
  const startMs = state.number(episode.startMs);
  state.fill(episode.scores);
  const peak = state.number(episode.peak);
  const peakMs = state.number(episode.peakMs);
  return { ...episode, startMs, peak, peakMs };
}

function begun(startMs: number): Episode {
  return { startMs, scores: new Float32Array(minutes), peak: 0, peakMs: startMs };
}

function minuteOf(elapsedMs: number): number {
  return Math.min(minutes - 1, Math.max(0, Math.floor(elapsedMs / minuteMs)));
}
