import { Arena } from '../../memory/arena.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import { longestRun } from '../options/detect-options.ts';
import { WindowRing, windowFields } from './window-ring.ts';

const memory = Arena.shared();

/** Requests of a window, and those of them that are counted: that hit, say. */
export interface ProportionCount {
  readonly startMs: number;
  readonly requests: number;
  readonly hits: number;
}

/** What is kept of a window. */
const { start: START, requests: REQUESTS, hits: HITS } = windowFields;
const SCORE = windowFields.end;
const fields = SCORE + 1;

/** The last windows that a test has judged, by where they lie; the newest of them wait to be settled. */
export class JudgedWindows extends WindowRing {
  #waiting = 0;

  constructor() {
    super(fields, longestRun);
  }

  /** One more that waits, with a score of 0. */
  add(startMs: number, requests: number, hits: number): void {
    const all = memory.doubles;
    const at = this.push();
    all[at + START] = startMs;
    all[at + REQUESTS] = requests;
    all[at + HITS] = hits;
    all[at + SCORE] = 0;
    this.#waiting += 1;
  }

  /** Sets what the newest scores. */
  score(score: number): void {
    memory.doubles[this.back(1) + SCORE] = score;
  }

  /** The oldest that waits, if it is of that time: it waits no more. */
  release(startMs: number): number | undefined {
    const at = this.back(this.#waiting);
    if (this.#waiting === 0 || memory.doubles[at + START] !== startMs) return undefined;
    this.#waiting -= 1;
    return at;
  }

  scoreOf(at: number): number {
    return memory.doubles[at + SCORE] as number;
  }

  /** Those from that time on, the newest at least; oldest first. */
  since(ms: number): readonly ProportionCount[] {
    const all = memory.doubles;
    let windows = 1;
    while (windows < this.length && (all[this.back(windows + 1) + START] as number) >= ms)
      windows += 1;
    return this.lastOf(windows).map((at) => ({
      startMs: all[at + START] as number,
      requests: all[at + REQUESTS] as number,
      hits: all[at + HITS] as number,
    }));
  }

  serialize(state: StateArchive): void {
    const all = memory.doubles;
    this.serializeEach(state, (at) => {
      for (const field of [START, REQUESTS, HITS]) {
        all[at + field] = state.number(all[at + field] as number);
      }
    });
    const scores = this.lastOf(this.#waiting).map((at) => ({
      startMs: all[at + START] as number,
      score: all[at + SCORE] as number,
    }));
    const waiting = state.list(scores, (one) => ({
      startMs: state.number(one?.startMs ?? 0),
      score: state.number(one?.score ?? 0),
    }));
    this.#waiting = waiting.length;
    waiting.forEach(({ score }, i) => {
      all[this.back(waiting.length - i) + SCORE] = score;
    });
  }
}
