import { createHash } from 'node:crypto';

/** An answer as it is sent. */
export interface KeptAnswer {
  readonly body: string;
  readonly etag: string;
}

interface Kept extends KeptAnswer {
  readonly mark: string;
  readonly madeMs: number;
  readonly costMs: number;
}

/** Limits of kept answers, in characters and in number. */
const mostCharacters = 32 * 1024 * 1024;
const mostAnswers = 1_000;
/**
 * An answer is kept for this many times what it cost, however much is stored meanwhile: so one question takes
 * ClickHouse at most a twentieth of the time.
 */
const costsKept = 20;
const longestKeptMs = 15_000;

/**
 * Keeps answers by question, the least recently used ones leaving first. Equal questions that are asked at the
 * same time are answered by one query.
 */
export class AnswerCache {
  readonly #elapsedMs: () => number;
  /** In order of use. */
  readonly #kept = new Map<string, Kept>();
  readonly #underWay = new Map<string, Promise<KeptAnswer>>();
  #characters = 0;

  /** @param elapsedMs monotonic time */
  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs;
  }

  /**
   * The kept answer to a question, or a new one where more has been stored since.
   *
   * @param mark of what is stored; the same for a question whose answer can no longer change.
   */
  answer(question: string, mark: string, ask: () => Promise<object>): Promise<KeptAnswer> {
    const kept = this.#kept.get(question);
    if (kept !== undefined && (kept.mark === mark || this.#isYoung(kept))) {
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

  #isYoung({ madeMs, costMs }: Kept): boolean {
    return this.#elapsedMs() - madeMs < Math.min(costsKept * costMs, longestKeptMs);
  }

  async #ask(question: string, mark: string, ask: () => Promise<object>): Promise<KeptAnswer> {
    const startMs = this.#elapsedMs();
    const body = `${JSON.stringify(await ask())}\n`;
    const madeMs = this.#elapsedMs();
    const etag = `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
    const kept = { body, etag, mark, madeMs, costMs: madeMs - startMs };
    this.#forget(question);
    this.#kept.set(question, kept);
    this.#characters += body.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= mostAnswers && this.#characters <= mostCharacters) break;
      this.#forget(oldest);
    }
    return kept;
  }

  #forget(question: string): void {
    this.#characters -= this.#kept.get(question)?.body.length ?? 0;
    this.#kept.delete(question);
  }
}
