import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/** An answer as it is sent. */
export interface KeptAnswer {
  readonly body: string;
  /** For who accepts gzip; undefined for a body too small to be worth it. */
  readonly gzip: Buffer | undefined;
  readonly etag: string;
}

interface Kept extends KeptAnswer {
  readonly mark: string;
  readonly madeMs: number;
  readonly costMs: number;
  usedMs: number;
}

/** Limits of kept answers, in characters and in number. */
const mostCharacters = 32 * 1024 * 1024;
const mostAnswers = 1_000;
/** Characters from which an answer is compressed. */
const leastCompressed = 16 * 1024;
/**
 * An answer is kept for this many times what all recent questions cost, however much is stored meanwhile: so all
 * pages together take ClickHouse at most a twentieth of the time, up to the longest time that an answer is kept,
 * which is two windows of 10 s.
 */
const costsKept = 20;
const longestKeptMs = 20_000;
/** A question that nobody has asked for so long costs nothing any more. */
const recentMs = 60_000;

const gzipped = promisify(gzip);

/**
 * Keeps answers by question, the least recently used ones leaving first. Equal questions that are asked at the
 * same time are answered by one query.
 */
export class AnswerCache {
  readonly #elapsedMs: () => number;
  readonly #render: (answer: object) => string;
  /** In order of use. */
  readonly #kept = new Map<string, Kept>();
  readonly #underWay = new Map<string, Promise<KeptAnswer>>();
  #characters = 0;
  #keptMs = 0;

  /** @param elapsedMs monotonic time */
  constructor(elapsedMs: () => number, render: (answer: object) => string) {
    this.#elapsedMs = elapsedMs;
    this.#render = render;
  }

  /**
   * The kept answer to a question, or a new one where more has been stored since.
   *
   * @param mark of what is stored; '' for a question whose answer can no longer change.
   */
  answer(question: string, mark: string, ask: () => Promise<object>): Promise<KeptAnswer> {
    const kept = this.#kept.get(question);
    const nowMs = this.#elapsedMs();
    if (kept !== undefined && (kept.mark === mark || nowMs - kept.madeMs < this.#keptMs)) {
      kept.usedMs = nowMs;
      this.#kept.delete(question);
      this.#kept.set(question, kept);
      return Promise.resolve(kept);
    }
    const begun = this.#underWay.get(question);
    if (begun !== undefined) return begun;
    const asked = this.#ask(question, mark, ask).finally(() => this.#underWay.delete(question));
    this.#underWay.set(question, asked);
    return asked;
  }

  async #ask(question: string, mark: string, ask: () => Promise<object>): Promise<KeptAnswer> {
    const startMs = this.#elapsedMs();
    const body = this.#render(await ask());
    const madeMs = this.#elapsedMs();
    const etag = `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
    const packed = body.length < leastCompressed ? undefined : await gzipped(body);
    const costMs = madeMs - startMs;
    const kept = { ...{ body, gzip: packed, etag, mark }, ...{ madeMs, costMs, usedMs: madeMs } };
    this.#forget(question);
    this.#kept.set(question, kept);
    this.#characters += body.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= mostAnswers && this.#characters <= mostCharacters) break;
      this.#forget(oldest);
    }
    this.#keptMs = Math.min(costsKept * this.#recentCostMs(madeMs), longestKeptMs);
    return kept;
  }

  /** What one answer to each question costs that is asked again and again. */
  #recentCostMs(nowMs: number): number {
    let sum = 0;
    for (const { mark, costMs, usedMs } of this.#kept.values()) {
      if (mark !== '' && nowMs - usedMs < recentMs) sum += costMs;
    }
    return sum;
  }

  #forget(question: string): void {
    this.#characters -= this.#kept.get(question)?.body.length ?? 0;
    this.#kept.delete(question);
  }
}
