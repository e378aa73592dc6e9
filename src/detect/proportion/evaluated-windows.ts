import { Arena } from '../../memory/arena.ts';
import { type StateArchive, serializeFields } from '../../snapshot/archive.ts';
import { longestRun, longestSparseRun } from '../options/detect-options.ts';
import { WindowRing, windowFields } from './window-ring.ts';

const memory = Arena.shared();

/** Requests of a window, and the hits among them: those that failed, for instance. */
export interface ProportionCount {
  readonly startMs: number;
  readonly requests: number;
  readonly hits: number;
}

/** Fields of a window. */
const { start: START, requests: REQUESTS, hits: HITS } = windowFields;
const SCORE = windowFields.end;
const fields = SCORE + 1;

/** The last evaluated windows, by their offsets in the arena. The newest are pending: not yet learnt. */
export class EvaluatedWindows extends WindowRing {
  #pending = 0;

  constructor() {
    super(fields, longestSparseRun);
  }

  /** Adds a pending window with a score of 0. */
  add(startMs: number, requests: number, hits: number): void {
    const all = memory.doubles;
    const offset = this.push();
    all[offset + START] = startMs;
    all[offset + REQUESTS] = requests;
    all[offset + HITS] = hits;
    all[offset + SCORE] = 0;
    this.#pending += 1;
  }

  /** Sets the score of the newest window. */
  score(score: number): void {
    memory.doubles[this.offsetBack(1) + SCORE] = score;
  }

  /** Releases the oldest pending window, if it started at `startMs`. */
  release(startMs: number): number | undefined {
    const offset = this.offsetBack(this.#pending);
    if (this.#pending === 0 || this.startMsOf(offset) !== startMs) return undefined;
    this.#pending -= 1;
    return offset;
  }

  scoreOf(offset: number): number {
    return memory.doubles[offset + SCORE] as number;
  }

  /**
   * Windows since `ms`, at least the newest one; oldest first. They are `longestRun` at most, or as many more
   * as it takes to hold `least` requests.
   */
  since(ms: number, least: number): readonly ProportionCount[] {
    let windows = 1;
    let requests = this.requestsOf(this.offsetBack(1));
    while (windows < this.length && (windows < longestRun || requests < least)) {
      const offset = this.offsetBack(windows + 1);
      if (this.startMsOf(offset) < ms) break;
      requests += this.requestsOf(offset);
      windows += 1;
    }
    return this.lastOffsets(windows).map((offset) => ({
      startMs: this.startMsOf(offset),
      requests: this.requestsOf(offset),
      hits: this.hitsOf(offset),
    }));
  }

  serialize(state: StateArchive): void {
    const all = memory.doubles;
    this.serializeEach(state, (offset) => {
      for (const field of [START, REQUESTS, HITS]) {
        all[offset + field] = state.number(all[offset + field] as number);
      }
    });
    const scores = this.lastOffsets(this.#pending).map((offset) => ({
      startMs: this.startMsOf(offset),
      score: this.scoreOf(offset),
    }));
    const pending = state.list(scores, (one) =>
      serializeFields(state, one, { startMs: 0, score: 0 }),
    );
    this.#pending = pending.length;
    pending.forEach(({ score }, i) => {
      all[this.offsetBack(pending.length - i) + SCORE] = score;
    });
  }
}
